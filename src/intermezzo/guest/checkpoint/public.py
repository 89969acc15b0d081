"""What `intermezzo.checkpoint` consists of, under whatever name its folder is found."""

from .errors import CheckpointError, CheckpointWarning, Damaged, NeedsPickles, NotStorable
from .keeper import Keeper
from .saved import Saved
from .series import Series, latest, load, save
from .tree import Pickled

__all__ = [
    "CheckpointError",
    "CheckpointWarning",
    "Damaged",
    "Keeper",
    "NeedsPickles",
    "NotStorable",
    "Pickled",
    "Saved",
    "Series",
    "latest",
    "load",
    "save",
]
