"""Programs for reused-buffer-kept."""

from ._programs import mutant

_FUNCTION = """
import numpy as np

def produce(stream, queue):
    buffer = np.empty((4, 8))
    for frame in stream:
        buffer[:] = frame
        queue.put(buffer.copy())
"""
_CLASS = """
import torch

class Rollout:
    def __init__(self, env):
        self.env = env
        self.memory = []

    def collect(self, n):
        state = torch.zeros(4)
        for _ in range(n):
            state.copy_(torch.as_tensor(self.env.step()))
            self.memory.append(state.clone())
        return self.memory
"""
_READER = """
import numpy as np
import torch

def worker(path, results):
    with open(path, "rb") as file:
        raw = bytearray(4096)
        while file.readinto(raw):
            results.put(bytes(raw))
"""

FAILS = {
    "queue": mutant(_FUNCTION, ("buffer.copy()", "buffer")),
    "part of it": mutant(_FUNCTION, ("buffer.copy()", "buffer[:2]")),
    "list of states": mutant(_CLASS, ("state.clone()", "state")),
    "a view": mutant(_CLASS, ("state.clone()", "state.unsqueeze(0)")),
    "a tensor over an array": mutant(
        _FUNCTION,
        ("import numpy as np", "import numpy as np\nimport torch"),
        ("buffer.copy()", "torch.from_numpy(buffer)"),
    ),
    "read into": mutant(_READER, ("bytes(raw)", "raw")),
    "out of a function": """
import torch

def gather(model, loader):
    out = torch.empty(32, 10)
    kept = []
    for x in loader:
        torch.softmax(model(x), 1, out=out)
        kept.append(out.detach())
    return torch.cat(kept)
""",
}

SILENT = {
    "copied": _FUNCTION,
    "cloned": _CLASS,
    "bytes": _READER,
    "made anew": """
import numpy as np

def produce(stream, queue):
    for frame in stream:
        buffer = np.empty((4, 8))
        buffer[:] = frame
        queue.put(buffer)
""",
    "kept once, after the loop": """
import numpy as np

def produce(stream, kept):
    buffer = np.zeros(8)
    for i, frame in enumerate(stream):
        buffer[i] = frame
    kept.append(buffer)
""",
    "a number of it": """
import torch

def norms(stream):
    scratch = torch.zeros(8)
    found = []
    for frame in stream:
        scratch.copy_(frame)
        found.append(scratch.norm())
        found.append(scratch[0].item())
    return found
""",
    "replaced in the loop": """
import numpy as np

def produce(stream, queue):
    buffer = np.zeros(8)
    for frame in stream:
        buffer[:4] = frame
        queue.put(buffer)
        buffer = np.zeros(8)
""",
}
