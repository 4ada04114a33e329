"""What code makes where it asks a setting for one value: elif args.model_name == "Wide": return WideNet(args)"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from trainsleuth.facts import Class, Expr, External, Function, Index

from ..recipe.keys import key_of
from ..recipe.recipes import Setting


def makes_another(index: Index, setting: Setting, named: Class, loaded: Collection[str]) -> bool:
    """Arms of `loaded` files that ask for the setting's value make a class of the same sort, and none names this one.

    That of a library is of the same sort where it is called alike: torch.optim.AdamW beside an own AdamW.
    """
    value = setting.value.strip("'\"")
    another = False
    for function, expr in _in_arms(index, setting.key.rpartition(".")[2], value, loaded):
        for part in expr.walk():
            made = index.resolve(function, part.text) if part.kind == "path" else None
            if made is named:
                return False
            another = another or _is_of_its_sort(index, made, named)
    return another


def _is_of_its_sort(index: Index, made: object, named: Class) -> bool:
    if isinstance(made, External):
        return made.name.rpartition(".")[2] == named.name
    bases = set(index.external_bases(named)) - {"?"}
    return isinstance(made, Class) and not bases.isdisjoint(index.external_bases(made))


def _in_arms(index: Index, word: str, value: str, loaded: Collection[str]) -> Iterator[tuple[Function, Expr]]:
    """Values of statements in arms whose test holds a setting called `word` against the string."""
    quoted = re.compile(rb"[\"']%s[\"']" % re.escape(value.encode()))
    for function in index.functions_holding(quoted):
        for event in function.events if function.path in loaded else ():
            tests = (branch.test for branch in event.block.branches if branch.kind == "if")
            if event.value is not None and any(test is not None and _asks(test, word, value) for test in tests):
                yield function, event.value


def _asks(test: Expr, word: str, value: str) -> bool:
    if test.kind != "compare" or test.text != "==" or len(test.parts) != 2:
        return False
    asked, other = test.parts
    key = asked.last if asked.kind == "path" else (key_of(asked) or "").rpartition(".")[2]
    return key == word and other.kind == "string" and other.text == value
