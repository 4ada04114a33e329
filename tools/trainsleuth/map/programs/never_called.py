"""Methods that no code of the repository calls or names: configure_optimizers() of a network in a program without Lightning."""

from __future__ import annotations

import re

from trainsleuth.facts import Function

from ..program import Program

_CALLED_BY_NAME = "forward"
_CALL_NO_OTHERS = {"object", "builtins.object", "abc.ABC", "torch.nn.Module", "torch.nn.modules.module.Module"}


def is_never_called(program: Program, method: Function) -> bool:
    """Not so of what a language, a decorator, a framework or a base class of another library may call."""
    owner = program.index.class_of(method)
    if owner is None or program.training.framework is not None or method.decorators or owner.decorators:
        return False
    if method.name == _CALLED_BY_NAME or method.name.startswith("__") or method in program.called:
        return False
    if not set(program.index.external_bases(owner)) <= _CALL_NO_OTHERS or any(program.index.calls(method.name)):
        return False
    named = re.compile(rf"{re.escape(method.name)}\b(?!\s*\()".encode())
    return not any(program.index.functions_holding(named))
