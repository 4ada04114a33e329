"""What the runtime takes for the parts and parameters of a module is what torch does, whatever the class says of itself."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

RUNTIME = Path(__file__).parents[1] / "tools" / "trainsleuth" / "runtime"
REGISTERED = runpy.run_path(str(RUNTIME / "registered.py"))
nn = torch.nn


def shared() -> Any:
    """A layer under two names, a weight of two layers, a part and a parameter that are None, a list, a norm with buffers."""
    net = nn.Module()
    net.first = net.again = nn.Linear(2, 2)
    net.rest = nn.ModuleList([nn.BatchNorm1d(2), nn.Linear(2, 2)])
    net.rest[1].weight = net.first.weight
    net.none = None
    net.register_parameter("nothing", None)
    net.register_buffer("mean", torch.zeros(2))
    net.scale = nn.Parameter(torch.ones(1))
    return net


MODULES: dict[str, Callable[[], Any]] = {
    "shared": shared,
    "encoder": lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 2, enable_nested_tensor=False),
    "lazy": lambda: nn.Sequential(nn.LazyLinear(3), nn.ReLU()),
    "parametrized": lambda: nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)),
}


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("what", ["named_modules", "named_parameters", "named_buffers"])
def test_the_same_in_the_same_order_as_torch(name: str, what: str) -> None:
    module = MODULES[name]()
    told = [(key, id(value)) for key, value in REGISTERED[what](module)]
    assert told == [(key, id(value)) for key, value in getattr(module, what)()]


def test_a_class_with_methods_of_its_own_is_not_asked() -> None:
    class Learner(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.weights = nn.ParameterList([nn.Parameter(torch.ones(2))])

        def parameters(self) -> Any:
            return self.weights

        def modules(self) -> str:
            return "none"

    learner = Learner()
    assert [id(one) for one in REGISTERED["parameters"](learner)] == [id(learner.weights[0])]
    assert [type(one).__name__ for one in REGISTERED["modules"](learner)] == ["Learner", "ParameterList"]


def test_an_object_that_answers_to_every_name_is_no_module() -> None:
    class Answering:
        def __getattr__(self, name: str) -> str:
            return name

    assert not REGISTERED["is_module"](Answering()) and REGISTERED["is_module"](nn.ReLU())
