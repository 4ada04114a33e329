"""The library that code is written for: torch, or another one whose objects have methods of the same names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .records import FileFacts

if TYPE_CHECKING:
    from .index import Index

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
_TORCH = {"torch", "lightning", "pytorch_lightning", "fastai", "accelerate", "transformers"}


def other_library(index: Index) -> str:
    """The library the repository is written in when it is not PyTorch; "" when torch is imported anywhere."""
    counts: dict[str, int] = {}
    for file in index.files.values():
        packages = _packages(file)
        if packages & _TORCH:
            counts["torch"] = counts.get("torch", 0) + 1
        for package in packages & _OTHERS.keys():
            counts[_OTHERS[package]] = counts.get(_OTHERS[package], 0) + 1
    best = max(counts, key=lambda name: (counts[name], name), default="torch")
    return "" if counts.get("torch", 0) * 3 >= counts.get(best, 0) else best


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


def _packages(file: FileFacts) -> set[str]:
    return {entry.module.partition(".")[0] for entry in file.imports if not entry.level}
