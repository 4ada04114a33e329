"""What stands behind the items of a data set: where its files are read, and the methods that an item passes through."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Class, Function

from ..program import Program
from .inner_steps import own_called

MOST = 4  # methods of one data set
SHORT = 3  # lines of a method that says nothing of its own
_READS = re.compile(
    r"^(?:pandas\.read_\w+|numpy\.(?:load|loadtxt|genfromtxt|memmap|fromfile)|h5py\.File|PIL\.Image\.open|cv2\.(?:imread|VideoCapture)|"
    r"torch\.load|(?:c?[Pp]ickle|json|dill|joblib)\.loads?|soundfile\.(?:read|SoundFile)|librosa\.(?:core\.)?load|torchaudio\.load|"
    r"scipy\.io\.(?:loadmat|wavfile\.read)|lmdb\.open|nibabel\.load|SimpleITK\.ReadImage|imageio\.\w*read|skimage\.io\.imread|"
    r"glob\.i?glob|os\.(?:listdir|scandir|walk)|tifffile\.imread|torchvision\.io\.\w+|decord\.VideoReader)$"
)
_GIVES_ITEMS = ("__getitem__", "__iter__", "__next__", "get", "__init__")


def reads(program: Program, cls: Class) -> Iterator[tuple[Function, int]]:
    """(method, line) of the first file that each method of the class reads."""
    for method in cls.methods.values():
        calls = (call for event in method.events for call in event.calls if call.callee)
        line = next((one.line for one in calls if _READS.match(program.full_name(method, one.callee))), 0)
        if line:
            yield method, line


def passed_through(program: Program, cls: Class) -> Iterator[Function]:
    """Methods of its own that make an item: self.load_features(path) in __getitem__()."""
    asked = [cls.methods[name] for name in _GIVES_ITEMS if name in cls.methods]
    yield from own_called(program, cls, asked, SHORT)[:MOST]
