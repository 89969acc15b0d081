"""What the public API says about application checkpoints and the environment record."""

from pydantic import Field

from intermezzo.client.shape import Shape
from intermezzo.domain.home_record import SaveOutcome


class SavedCheckpointShape(Shape):
    """The newest application checkpoint of one series. `path` is below home; `label` and `step` are what its program
    called it; `older` is how many more of the series there are. Its files are there in their sizes, and not read.
    `loaded_by` is what to type in a notebook to have its state again."""

    series: str
    path: str
    saved_at: int
    bytes: int
    label: str = ""
    step: int | None = None
    older: int = 0
    loaded_by: str = ""


class EnvironmentRecordShape(Shape):
    """The record that the last pause left in `~/.intermezzo/record`."""

    made_at: int
    python: str
    packages: int
    notebooks: int
    complete: bool


class HomeRecordShape(Shape):
    """What a home tells of how its work can be done again: checkpoints, newest first, and the environment record."""

    checkpoints: tuple[SavedCheckpointShape, ...] = Field(default=())
    environment: EnvironmentRecordShape | None = None


class SaveAnswerShape(Shape):
    """What came of asking one program for a checkpoint. Only `saved` and `current` say that there is one of now; `path`
    is inside the sandbox; `required`: without one a pause is refused."""

    series: str
    outcome: SaveOutcome
    label: str = ""
    path: str = ""
    bytes: int = 0
    message: str = ""
    required: bool = False
