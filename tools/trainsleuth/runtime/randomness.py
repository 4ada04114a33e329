"""The state of every global random generator: torch, its devices, Python's, NumPy's when it is imported."""

import random
import sys


def save(torch, everything=True):
    """A snapshot for `restore`; only torch's generators unless `everything`. Waits for no device."""
    state = {"torch": torch.get_rng_state()}
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state_all()
    if everything:
        state["python"] = random.getstate()
        if "numpy" in sys.modules:
            state["numpy"] = sys.modules["numpy"].random.get_state()
    return state


def restore(torch, state):
    torch.set_rng_state(state["torch"])
    if "cuda" in state:
        torch.cuda.set_rng_state_all(state["cuda"])
    if "python" in state:
        random.setstate(state["python"])
    if "numpy" in state:
        sys.modules["numpy"].random.set_state(state["numpy"])
