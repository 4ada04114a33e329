"""The library that code is written for: torch, or another one whose objects have methods of the same names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..memo import kept_per_index
from ..records import FileFacts

if TYPE_CHECKING:
    from ..index import Index

_OTHERS = {
    "tensorflow": "TensorFlow",
    "jax": "JAX",
    "flax": "JAX",
    "paddle": "PaddlePaddle",
    "mxnet": "MXNet",
    "keras": "Keras",
    "mlx": "MLX",
    "chainer": "Chainer",
    "mindspore": "MindSpore",
    "jittor": "Jittor",
    "tinygrad": "tinygrad",
}
_STEP = re.compile(rb"\.backward\(")
_BUILDS = re.compile(
    rb"\bkeras\b|GradientTape|\bestimator\b|get_variable\(|\.Variable\(|\bslim\b|\btf\.(?:layers|nn)\.|Optimizer\("
)
_EITHER = "transformers"  # its tokenizers serve all of them
_TORCH = {"torch", "lightning", "pytorch_lightning", "fastai", "accelerate", _EITHER}


@kept_per_index
def other_library(index: Index) -> str:
    """The library the repository is written in when it is not PyTorch; "" when a quarter of its files import torch.

    Beside a training step of torch, TensorFlow in files that only read and write data says nothing.
    """
    torch = either = 0
    others: Counter[str] = Counter()
    steps = any(_packages(file) & _TORCH for file in index.files_holding(_STEP))
    for file in index.files.values():
        packages = _packages(file)
        torch += bool(packages & _TORCH - {_EITHER})
        either += _EITHER in packages and not packages & _TORCH - {_EITHER}
        if said := {_OTHERS[package] for package in packages & _OTHERS.keys()}:
            others.update(said if not steps or file.body.source.holds(_BUILDS) else said - {_OTHERS["tensorflow"]})
    best = max(others, key=lambda name: (others[name], name), default="")
    if either > others[best]:
        torch += either
    return "" if torch * 3 >= others[best] else best


def written_for_another(index: Index, paths: Iterable[str]) -> str:
    """The library, other than torch, that one of the files is written for; "" when it may be torch."""
    packages = set[str]().union(*(_packages(index.files[path]) for path in paths if path in index.files))
    if packages & _TORCH:
        return ""
    if others := sorted(packages & _OTHERS.keys()):
        return _OTHERS[others[0]]
    is_torch = any(
        "torch" in package or package in _TORCH for file in index.files.values() for package in _packages(file)
    )
    return "NumPy" if "numpy" in packages and not is_torch else ""


def is_for_another(index: Index, path: str) -> bool:
    """The file is written for another library than torch, or lies in a folder that is called like one."""
    packages = _packages(index.files[path]) if path in index.files else set()
    folders = set(path.split("/")[:-1])
    return bool((packages | folders) & _OTHERS.keys()) and not packages & _TORCH


def _packages(file: FileFacts) -> set[str]:
    return {entry.module.partition(".")[0] for entry in file.imports if not entry.level}
