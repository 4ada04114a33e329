"""An optimizer of one player owns the parameters of the other.

With two networks that play against each other each needs an optimizer of its own. When the optimizer named
after the discriminator is given the generator, one network is trained for the other's goal and one not at
all; when one optimizer holds both, a step for one also moves the other. Nothing fails, the game is lost.

Fix: give each optimizer the parameters of its own network.

Cannot see: names that say nothing of the player. Two optimizers that share a module are a question only:
some methods do so on purpose (an encoder that learns from two losses).

Bad:
    import torch
    from torch import nn

    generator, discriminator = nn.Linear(4, 8), nn.Linear(8, 1)
    optimizer_G = torch.optim.Adam(generator.parameters(), lr=2e-4)
    optimizer_D = torch.optim.Adam(generator.parameters(), lr=2e-4)

Bad (actor and critic in a class):
    import torch
    from torch import nn

    class Agent:
        def __init__(self, states, actions):
            self.actor = nn.Linear(states, actions)
            self.critic = nn.Linear(states, 1)
            self.actor_optim = torch.optim.Adam(self.actor.parameters())
            self.critic_optim = torch.optim.Adam(self.actor.parameters())

Good:
    import torch
    from torch import nn

    generator, discriminator = nn.Linear(4, 8), nn.Linear(8, 1)
    optimizer_G = torch.optim.Adam(generator.parameters(), lr=2e-4)
    optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=2e-4)

Good (a choice between two optimizers, and one for all):
    import torch
    from torch import nn

    def build(kind, net, head):
        if kind == "adam":
            optimizer = torch.optim.Adam(net.parameters())
        else:
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        both = torch.optim.Adam(head.parameters())
        return optimizer, both
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from trainsleuth.facts import Built, Function, Index, built_optimizers, is_sibling
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "wrong-player-optimized",
    "optimizer",
    "error",
    "parameter_table",
    suspects=("optimizer-misses-parameters",),
    claims=("updates-not-applied",),
)
_PLAYERS = {
    "generator": re.compile(r"(^|_)(g|gen|generator|netg)(_|$)|^net_?g|[a-z]G$", re.IGNORECASE),
    "discriminator": re.compile(r"(^|_)(d|dis|disc|discriminator|netd)(_|$)|^net_?d|[a-z]D$", re.IGNORECASE),
    "actor": re.compile(r"actor|policy", re.IGNORECASE),
    "critic": re.compile(r"critic|(^|_)(value|v|qf?\d?)(_|$)", re.IGNORECASE),
    "encoder": re.compile(r"encoder", re.IGNORECASE),
    "decoder": re.compile(r"decoder", re.IGNORECASE),
}


def check(index: Index) -> Iterator[Finding]:
    every = list(built_optimizers(index))
    for built in every:
        if built.name and built.owned:
            yield _examined(built, every)
    sharing: dict[tuple[Function, str], dict[Built, str]] = {}
    for one, other in combinations(every, 2):
        if one.site.function is other.site.function and (shared := _shared(one, other)):
            model = shared.removeprefix("self.").partition(".")[0]
            own = sharing.setdefault((one.site.function, model), {})
            own.setdefault(one, shared)
            own.setdefault(other, shared)
    yield from map(_question, sharing.values())


def _players(name: str) -> set[str]:
    last = name.rpartition(".")[2]
    return {player for player, pattern in _PLAYERS.items() if pattern.search(last)}


def _examined(built: Built, every: list[Built]) -> Finding:
    site = built.site
    mine = _players(built.name)
    given = [_players(path) for path, _ in built.owned]
    path, line = site.function.path, site.call.line
    others = {
        player
        for one in every
        if one is not built and one.site.function is site.function
        for player in _players(one.name)
    }
    for players in given:
        if len(mine) == 1 and len(players) == 1 and mine != players and len(given) == 1 and players <= others:
            return _failure(built, mine.pop(), players.pop())
    return SAY.passed(path, line, f"{built.name} owns {', '.join(one for one, _ in built.owned)}")


def _shared(one: Built, other: Built) -> str:
    """A module that both own as a whole; "" for optimizers of which only one is ever used."""
    if one.name == other.name or is_sibling(one.site.event.block, other.site.event.block):
        return ""
    both = [path for path in one.owned if path in other.owned]
    return both[0][0] if both and one.owned != other.owned else ""


def _failure(built: Built, mine: str, theirs: str) -> Finding:
    path, line = built.site.function.path, built.site.call.line
    owned = built.owned[0][0]
    message = (
        f"{built.name} at {path}:{line} is the optimizer of the {mine} by its name but owns {owned}, the {theirs}, "
        f"which has an optimizer of its own; expected the parameters of the {mine}."
    )
    return SAY.fail(path, line, message, (Link(path, line, f"{owned}.parameters() goes to {built.name}"),))


def _question(owners: dict[Built, str]) -> Finding:
    """One for all optimizers of a function that share parts of one model."""
    sites = sorted(owners, key=lambda one: one.site.position)
    path, line = sites[1].site.function.path, sites[1].site.call.line
    chain = tuple(Link(path, one.site.call.line, f"{_named(one)} owns {owners[one]}") for one in sites)
    names = ", ".join(map(_named, sites)) if len(sites) < 4 else f"{len(sites)} optimizers"
    parts = " and ".join(sorted(set(owners.values())))
    message = f"{names} own {parts} in common ({path}:{line}): is each meant to move it?"
    return SAY.fail(path, line, message, chain, "low", "note")


def _named(one: Built) -> str:
    return one.name or f"the optimizer of line {one.site.call.line}"
