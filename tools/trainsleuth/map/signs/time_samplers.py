"""Samplers of diffusion time steps: they draw numbers, and no examples."""

from __future__ import annotations

from trainsleuth.facts import Class

from ..program import Program

_GOES_OVER = ("__iter__", "__next__", "__len__", "__getitem__")
_SAYS_NOTHING = {"object", "abc.ABC", "builtins.object", "typing.Generic"}


def is_time_sampler(program: Program, cls: Class) -> bool:
    """What is called a sampler, has sample() and goes over nothing in any of its methods."""
    methods = [method for one in program.index.lineage(cls) for method in one.methods.values()]
    return (
        cls.name.endswith("Sampler")
        and set(program.index.external_bases(cls)) <= _SAYS_NOTHING
        and any(one.name == "sample" for one in methods)
        and not any(one.loops or one.name in _GOES_OVER for one in methods)
        and not any("step" in one.called for one in methods)
    )
