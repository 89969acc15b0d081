"""Application checkpoints for notebooks and scripts, inside a workspace of Intermezzo and on any other machine.

    from intermezzo import checkpoint

    if saved := checkpoint.latest("training"):
        state = saved.load()
    checkpoint.save({"epoch": 14, "weights": weights}, "training", label="epoch 14")

`save` writes a checkpoint aside, makes it durable and only then gives it its name; `latest` finds the newest one that
is whole, whatever happened to later ones. A `Keeper` saves on a schedule, before a pause and on demand. It needs the
standard library alone, and knows NumPy and PyTorch where what is saved is made of them. This package must never import
either by itself, nor anything else of Intermezzo: a copy of its folder works under any name.
"""

from .public import *  # noqa: F403 what that names in __all__
