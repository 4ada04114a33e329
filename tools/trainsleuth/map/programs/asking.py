"""Programs that ask an object to train of which reading does not know what it is: trainer = instantiate(cfg.trainer)."""

from __future__ import annotations

from trainsleuth.facts.naming.sites import call_sites

from ..calling.graph import Graph
from ..calling.reach import Reach
from .sidelines import NEVER

_ASKED = ("fit", "learn", "run_training")  # train() alone is also a mode of every network


def asks_to_train(graph: Graph, reached: Reach) -> bool:
    """What the program reaches calls such a method of an object that is not known, and a class of the project has it."""
    for name in _ASKED:
        if not any(not NEVER.search(method.path) for method in graph.methods.named(name)):
            continue
        for function in graph.index.sites.may_call(name):
            for site in call_sites(function).get(name, ()) if function in reached.distance else ():
                if site.call.receiver is not None and not graph.targets(function, site.call):
                    return True
    return False
