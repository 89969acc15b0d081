"""How often the control plane's process looks for garbage that holds itself: seldom.

Every full look goes through all that is remembered of all workspaces, and the event loop stands still meanwhile: with
five thousand of them for a tenth of a second, several times in each sweep of the idle rule by Python's own measure.
What the process makes is nearly all given back without it, as soon as nobody needs it.
"""

import gc

YOUNG, MIDDLE, ALL = 50_000, 50, 100


def collect_seldom() -> None:
    """From now on, in this process."""
    gc.set_threshold(YOUNG, MIDDLE, ALL)
