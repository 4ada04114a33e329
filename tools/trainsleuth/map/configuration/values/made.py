"""Objects that an expression makes, and whether they are instances of what a test names."""

from __future__ import annotations

from typing import NamedTuple

from trainsleuth.facts import Class, Expr, External, Function, Index, bindings


class Made(NamedTuple):
    """An object of the project's class that a call makes."""

    cls: Class


def made_by(index: Index, function: Function, call: Expr) -> Made | None:
    """None where the call is not known to give an object of just the class that it names."""
    cls = index.resolve(function, call.callee) if call.kind == "call" and call.callee else None
    if not isinstance(cls, Class) or cls.decorators or index.method(cls, "__new__") is not None:
        return None
    return Made(cls)


def kept_keyword(index: Index, function: Function, dotted: str) -> tuple[Expr, int] | None:
    """What an object of a library was given under the name of its attribute, and where: accelerator.mixed_precision, of
    accelerator = Accelerator(mixed_precision=args.mixed_precision).
    """
    held, _, name = dotted.rpartition(".")
    bound = bindings(function).get(held, ()) if held else ()
    call = bound[0].value if len(bound) == 1 and bound[0].kind == "assign" and not bound[0].items else None
    if call is None or call.kind != "call" or not call.last[:1].isupper() or not call.callee:
        return None
    given = call.keyword(name) if isinstance(index.resolve(function, call.callee), External) else None
    return (given, bound[0].position) if given is not None else None


def is_instance(index: Index, function: Function, made: Made, tested: Expr) -> bool | None:
    """Of one class, or of one in a tuple; None where that cannot be told."""
    if tested.kind == "tuple":
        truths = [is_instance(index, function, made, one) for one in tested.parts]
        return True if True in truths else None if None in truths else False
    cls = index.resolve(function, tested.text) if tested.kind == "path" else None
    if not isinstance(cls, Class):
        return None
    lineage = index.lineage(made.cls)
    return cls in lineage or (None if any(_is_open(index, one) for one in lineage) else False)


def _is_open(index: Index, cls: Class) -> bool:
    """What one of its bases is, is not known, or something beside the bases says what is an instance of it."""
    bases = (index.resolve(cls.body, base.text) if base.kind == "path" else None for base in cls.bases)
    return any(not isinstance(base, Class | External) for base in bases)
