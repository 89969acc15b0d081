"""What people typed, in place of the API's fields: an error names the option that was given, not what it became.

Only for a command that has these options: in a document the fields are what was typed.
"""

from collections.abc import Mapping

from intermezzo.domain.kind import IMAGE_FIELD, POD_FIELD
from intermezzo.domain.mounts import DATA_FIELD
from intermezzo.domain.variables import FIELD as ENV_FIELD
from intermezzo.domain.volumes import HOME_FIELD

OF_A_WORKSPACE = {
    IMAGE_FIELD: "--image",
    POD_FIELD: "--pod",
    HOME_FIELD: "--home",
    DATA_FIELD: "--data",
    ENV_FIELD: "--env",
    "spec.display_name": "--display-name",
    "spec.kind": "--kind",
}


def as_typed(text: str, options: Mapping[str, str]) -> str:
    """The text with each field of the API called by the option that it has."""
    for field, option in options.items():
        text = text.replace(field, option)
    return text
