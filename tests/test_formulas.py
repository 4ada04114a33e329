"""The table of formulas behind altered-formula, and the comparison by numbers."""

from collections.abc import Iterator

import pytest
from trainsleuth.checks._edits import edits
from trainsleuth.checks._formulas import FORMULAS, Formula
from trainsleuth.checks.altered_formula import _is_one, _parts, _slip
from trainsleuth.facts import Expr, formula, leaves, written

_TURNED = {"+": "-", "-": "+", "*": "/", "/": "*"}


def _name(one: Formula) -> str:
    return one.texts[0]


@pytest.mark.parametrize("one", FORMULAS, ids=_name)
def test_numbers_tell_a_formula(one: Formula) -> None:
    assert all(set(leaves(form)) == set(one.roles) for form in one.forms)
    largest = max(map(abs, one.values[0]))
    assert len(one.points) >= 8
    assert len({round(value / largest, 6) for value in one.values[0]}) >= 4


@pytest.mark.parametrize("one", FORMULAS, ids=_name)
def test_an_operator_turned_is_found(one: Formula) -> None:
    roles = {role: role for role in one.roles}
    for wrong in _turned(one.forms[0]):
        if not any(_is_one(part, roles, one) for part in (wrong, *_parts(wrong))):
            assert _slip(wrong, roles, one) is not None, written(wrong, 200)


def _turned(expr: Expr) -> Iterator[Expr]:
    """The formula with one of its operators turned, each in its turn; a sign before a number or a name is left."""
    if expr.kind == "binary" and expr.text in _TURNED:
        yield expr._replace(text=_TURNED[expr.text])
    for place, part in enumerate(expr.parts):
        for other in _turned(part):
            yield expr._replace(parts=(*expr.parts[:place], other, *expr.parts[place + 1 :]))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("0.5 * (exp(logvar) + mu * mu - logvar)", True),  # the constant does not train
        ("1 + logvar - mu**2 - exp(logvar)", True),
        ("1 + logvar - mu**2 - exp(0.5 * logvar)", False),
        ("log(1 + logvar - mu**2)", False),
    ],
)
def test_what_is_the_same(text: str, same: bool) -> None:
    assert _is_one(formula(text), {"mu": "mu", "logvar": "logvar"}, FORMULAS[0]) is same


def test_edits_change_one_part() -> None:
    whole = formula("a + b * sqrt(c)")
    found = {written(changed) for changed, _, _ in edits(whole, ("a", "b", "c"))}
    assert {"a - b * sqrt(c)", "a + b / sqrt(c)", "a + b * c", "a + c * sqrt(c)", "a + b * sqrt(2 * c)"} <= found
    assert written(whole) not in found
