"""What every table of the configuration file has in common."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A table of the configuration file; a key that it does not have is an error."""

    model_config = ConfigDict(extra="forbid", validate_default=True)
