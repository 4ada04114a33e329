"""What a registry holds beside the class that is asked for: registry.register("a1", Robot, RobotConfig(), TrainConfig())."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from trainsleuth.facts import Function, Index
from trainsleuth.facts.naming.sites import Site

from ..recipe.recipes import Choice, Setting
from .factories import FILLS, made_by
from .tables import Table, kind_of_holder

if TYPE_CHECKING:
    from ..calling.values import Values


def registered_beside(index: Index, values: Values, given: Iterable[Setting]) -> Iterator[Choice]:
    """Of the name that a setting says: each further class, under the parameter that takes it ("task.train_cfg")."""
    sites = [site for site in index.calls(*FILLS) if _holds_more(site)]
    in_force = {one.key: one for one in given} if sites else {}
    for setting in in_force.values():
        for site in sites:
            name, *more = site.call.arguments
            if name.text == setting.value and _answers(site, setting.key):
                for place, one in enumerate(more):
                    for made in made_by(values, site.function, one):
                        key = f"{setting.key}.{_parameter(values, site, place + 1)}"
                        yield Choice(site.function.path, one.line, key, setting.value, made)


def _holds_more(site: Site) -> bool:
    given = site.call.arguments
    return len(given) > 2 and given[0].kind == "string" and site.call.receiver is not None


def _answers(site: Site, key: str) -> bool:
    holder = site.call.receiver
    kind = kind_of_holder(holder.last) if holder is not None else ""
    return bool(kind) and Table({}, "", kind).answers(key)


def _parameter(values: Values, site: Site, place: int) -> str:
    for method in values.callables(site.function, site.call.parts[0]):
        names = (
            [one.name for one in method.parameters if one.name != method.self_name]
            if isinstance(method, Function)
            else []
        )
        if place < len(names):
            return names[place]
    return str(place)
