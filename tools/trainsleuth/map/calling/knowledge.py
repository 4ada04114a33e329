"""What is known of a program when its names are followed: what its settings choose, which code belongs to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainsleuth.facts import Class, Function, Module

if TYPE_CHECKING:
    from ..recipe.references import Given


@dataclass(frozen=True, eq=False)
class Knowledge:
    """`excluded` are classes that a recipe is known not to choose from their table.

    `kinds` are the classes that it does choose, by the kind of their registry: what is called "criterion"
    and is not known otherwise is taken for the chosen criterion; so is what a recipe makes under a name.
    `configured` are the classes that sections of the configuration build: instantiate(cfg.model) gives that of
    the section "model". `looked_up` are the classes that a function takes from a table by a configured name, `functions` the functions
    that one gives back from it. `called` are the functions that sections name: call(cfg.train.step).
    `loaded` are the files of the program: what others hand over is not held. `modules` are those that an import
    by a setting loads, by its path and line. `narrowed` are classes that the settings choose: what is known to be
    of a class above one of them is of that one. `settings` are the settings themselves: what is bound in an arm
    that they do not choose is not held. `picked` is what each setting chooses, by its key.
    `made` are classes that the program is seen to make: of those below a class these count, if any.
    `given` is what settings hand to parameters, by the class or function whose they are, and their name.
    `reached` is code that the program is seen to run: of callers only these count, if any of them calls.
    `unasked` are functions that a command line would run for other subcommands.
    """

    excluded: frozenset[Class | Function] = frozenset()
    kinds: Mapping[str, Class | Function] = field(default_factory=dict)
    configured: Mapping[str, Class] = field(default_factory=dict)
    looked_up: Mapping[Function, tuple[Class, ...]] = field(default_factory=dict)
    functions: Mapping[Function, tuple[Function, ...]] = field(default_factory=dict)
    called: Mapping[str, Function] = field(default_factory=dict)
    loaded: frozenset[str] | None = None
    modules: Mapping[tuple[str, int], tuple[Module, ...]] = field(default_factory=dict)
    narrowed: frozenset[Class] = frozenset()
    settings: Mapping[str, str] = field(default_factory=dict)
    picked: Mapping[str, Class | Function] = field(default_factory=dict)
    made: frozenset[Class] = frozenset()
    reached: frozenset[Function] = frozenset()
    given: Mapping[tuple[str, str], Given] = field(default_factory=dict)
    unasked: frozenset[Function] = frozenset()

    def handed(self, function: Function, name: str) -> Given | None:
        """What settings hand to a parameter of the function, or of the class that it constructs."""
        whose = function.owner.rpartition(".")[2] if function.name == "__init__" else function.name
        return self.given.get((whose, name))

    def is_loaded(self, path: str) -> bool:
        """The file belongs to the program, as far as that is known."""
        return self.loaded is None or path in self.loaded


NOTHING = Knowledge()
