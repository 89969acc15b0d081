"""What every answer of the public API is built like.

A field is added to a shape before it is sent; nothing leaves by accident. Times are epoch milliseconds, UTC; sizes are
bytes; CPU is in thousandths.
"""

from typing import Self

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    """Built from a domain value with `model_validate`."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def maybe(cls, value: object | None) -> Self | None:
        """The shape of a value that may be absent."""
        return None if value is None else cls.model_validate(value)
