"""Attributes that no object of a class can have: what reads one stops there.

Narrow: all classes that the object may be of are the project's and stand on nothing else but torch's Module, and
nowhere is the attribute set, or its name written as a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..reading.scopes import bindings
from ..records import Class, Expr
from ..tracing.things import Instance, Spot, Thing
from ..tracing.wrappers import INNER
from ..words import words
from .by_compiler import compiled_file

if TYPE_CHECKING:
    from ..index import Index

NO_BASES = frozenset(("object", "builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"))
_MODULE = "torch.nn.Module"
_OF_MODULE = words(
    """T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda device double
    dump_patches eval extra_repr float forward get_buffer get_extra_state get_parameter get_submodule half ipu
    load_state_dict modules mtia named_buffers named_children named_modules named_parameters parameters
    register_backward_hook register_buffer register_forward_hook register_forward_pre_hook
    register_full_backward_hook register_full_backward_pre_hook register_load_state_dict_post_hook
    register_load_state_dict_pre_hook register_module register_parameter register_state_dict_post_hook
    register_state_dict_pre_hook requires_grad_ set_extra_state set_submodule share_memory state_dict to to_empty
    train training type xpu zero_grad"""
)
_SETTING = re.compile(rb"setattr\(|__dict__|vars\(|(?:register_\w+|add_module)\((?!\s*[\"'])")
_DYNAMIC = ("__getattr__", "__getattribute__", "__new__", "__slots__")


def missing_attribute(index: Index, spot: Spot, expr: Expr) -> str:
    """Why a path or an attribute cannot be read at `spot`; "" when it may well be."""
    for owner, name in _read_of(expr):
        if name.startswith("__") or name in INNER:
            continue
        things = index.objects.of(owner, spot)
        if things and all(_lacks(index, thing, name) for thing in things) and not _is_put(index, name):
            return f"{owner.text}.{name} is set nowhere" if owner.kind == "path" else f".{name} is set nowhere"
    return ""


def _read_of(expr: Expr) -> Iterator[tuple[Expr, str]]:
    """Each (owner, attribute) of an expression."""
    if expr.kind == "attr":
        yield expr.parts[0], expr.text
    elif expr.kind == "path":
        names = expr.text.split(".")
        for count, name in enumerate(names[1:], 1):
            yield Expr("path", ".".join(names[:count]), (), expr.line), name


def _lacks(index: Index, thing: Thing, name: str) -> bool:
    """No object of its class, or of one below it where the very class is not known, has such an attribute."""
    if not isinstance(thing, Instance) or not isinstance(thing.kind, Class):
        return False
    below = () if thing.call is not None else index.subclasses(thing.kind)
    family = dict.fromkeys(one for cls in (thing.kind, *below) for one in index.lineage(cls))
    return all(_is_whole(index, cls) and not _has(index, cls, name) for cls in family)


def _is_whole(index: Index, cls: Class) -> bool:
    """All that its objects have is written in its methods, or in torch's Module."""
    if cls.decorators or cls.keywords or not (NO_BASES | {_MODULE}).issuperset(index.external_bases(cls)):
        return False
    if any(name in cls.methods or name in bindings(cls.body) for name in _DYNAMIC):
        return False
    known = compiled_file(index, cls.path)
    return known is not None and not index.files[cls.path].body.source.holds(_SETTING)


def _has(index: Index, cls: Class, name: str) -> bool:
    known = compiled_file(index, cls.path)
    is_inner = f"{cls.qualname}.{name}" in index.files[cls.path].classes
    is_given = (name in _OF_MODULE or name.startswith("_")) and _MODULE in index.external_bases(cls)
    return (
        is_inner
        or is_given
        or name in cls.methods
        or name in bindings(cls.body)
        or known is None
        or name in known.attributes
    )


def _is_put(index: Index, name: str) -> bool:
    """Somebody sets it on an object that is not called self, by a name that is computed, or registers or asks for it."""
    told = re.escape(name.encode())
    by_text = rb"(?:attr|register_\w+|add_module)\([^)\n]*\s*[\"']%s[\"']" % told
    return index.is_held(re.compile(rb"(?<!self)\.%s\s*(?::[^=\n]+)?=[^=]|setattr\(|%s" % (told, by_text)))
