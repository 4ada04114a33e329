"""What stands behind the items of a data set: where its files are read, and the methods that an item passes through."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from trainsleuth.facts import Class, Function

from ..program import Program
from .inner_steps import own_called

MOST = 6  # methods of one data set
MOST_READS = 3  # of one method
APART = 6  # lines between two reads that are told apart
SHORT = 3  # lines of a method that says nothing of its own
_READS = re.compile(
    r"^(?:pandas\.read_\w+|numpy\.(?:load|loadtxt|genfromtxt|memmap|fromfile)|h5py\.File|PIL\.Image\.open|cv2\.(?:imread|VideoCapture)|"
    r"torch\.load|(?:c?[Pp]ickle|json|dill|joblib)\.loads?|soundfile\.(?:read|SoundFile)|librosa\.(?:core\.)?load|torchaudio\.load|"
    r"scipy\.io\.(?:loadmat|wavfile\.read)|lmdb\.open|nibabel\.load|SimpleITK\.ReadImage|imageio\.\w*read|skimage\.io\.imread|"
    r"glob\.i?glob|os\.(?:listdir|scandir|walk)|tifffile\.imread|torchvision\.io\.\w+|decord\.VideoReader)$"
)
_GIVES_ITEMS = ("__getitem__", "__iter__", "__next__", "get", "__init__")


def reads(program: Program, cls: Class) -> Iterator[tuple[Function, int]]:
    """(method, line) of the files that each method of the class reads, those that stand apart."""
    for method in cls.methods.values():
        calls = (call for event in method.events for call in event.calls if call.callee)
        lines = (one.line for one in calls if _READS.match(program.full_name(method, one.callee)))
        yield from ((method, line) for line in islice(_apart(lines), MOST_READS))


def _apart(lines: Iterable[int]) -> Iterator[int]:
    last = -APART
    for line in lines:
        if line - last >= APART:
            yield line
            last = line


def passed_through(program: Program, cls: Class) -> Iterator[Function]:
    """Methods of its own that make an item: self.load_features(path) in __getitem__()."""
    asked = [cls.methods[name] for name in _GIVES_ITEMS if name in cls.methods]
    first = own_called(program, cls, asked, SHORT)
    behind = [one for one in own_called(program, cls, first, SHORT) if one not in asked]
    yield from [*first, *behind][:MOST]


def helped_by(program: Program, cls: Class) -> Iterator[tuple[Function, int, Function]]:
    """(method, line, function): what an item is made with besides: crop(image, box) in __getitem__() or what it calls."""
    methods = [cls.methods[name] for name in _MAKES_ITEMS if name in cls.methods]
    seen: set[Function] = set()
    for method in [*methods, *passed_through(program, cls)]:
        for event in method.events:
            for call in event.calls:
                for target in program.graph.targets(method, call):
                    if isinstance(target, Function) and not target.owner and target not in seen:
                        seen.add(target)
                        yield method, call.line, target


_MAKES_ITEMS = ("__getitem__", "__iter__", "__next__", "get", "__call__")
