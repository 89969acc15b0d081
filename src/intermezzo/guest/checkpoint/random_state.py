"""Where the random numbers of this process are: Python's, and NumPy's and PyTorch's global ones where they are loaded.

Generators that somebody made are not known here; their state belongs into the state that is saved.
"""

import random
import sys
from typing import Any


def taken() -> dict[str, Any]:
    """The state of each, for `tree.encoded`."""
    state: dict[str, Any] = {"python": random.getstate()}
    if (numpy := sys.modules.get("numpy")) is not None:
        state["numpy"] = numpy.random.get_state(legacy=False)
    if (torch := sys.modules.get("torch")) is not None:
        state["torch"] = torch.get_rng_state()
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            state["torch_cuda"] = torch.cuda.get_rng_state_all()
    return state


def put_back(state: dict[str, Any]) -> list[str]:
    """Set each generator that is loaded here to what was taken; returns the names of those that are set."""
    random.setstate(state["python"])
    done = ["python"]
    if "numpy" in state and (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.set_state(state["numpy"])
        done.append("numpy")
    if "torch" in state and (torch := sys.modules.get("torch")) is not None:
        torch.set_rng_state(state["torch"])
        done.append("torch")
        if "torch_cuda" in state and torch.cuda.device_count() == len(state["torch_cuda"]):
            torch.cuda.set_rng_state_all(state["torch_cuda"])
            done.append("torch_cuda")
    return done
