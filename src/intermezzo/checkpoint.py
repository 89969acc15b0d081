"""Application checkpoints for notebooks and scripts: `from intermezzo import checkpoint`.

The public name of `intermezzo.guest.checkpoint`, which needs nothing else of Intermezzo, so that it is the same inside
a sandbox and outside.
"""

from intermezzo.guest.checkpoint.public import *  # noqa: F403 what that names in __all__
