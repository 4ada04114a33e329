"""A parameter is moved or computed upon as it is made, so the module keeps a tensor that is none.

nn.Parameter(torch.zeros(4)).cuda() is another tensor, computed from the parameter. A module that keeps it registers nothing: parameters() leaves it out, no
optimizer steps it, no checkpoint holds it. The parameter itself is forgotten on the spot. nn.Parameter(x) * 0.1 does the same everywhere, .to(device) where
the device is another one than that of x.

Fix: compute and move first, nn.Parameter(0.1 * x.to(device)); or make the parameter and move the module.

Cannot see: devices, so .to(device) on one where x is already is harmless; parameters that are made in another function.

Bad:
    import torch
    from torch import nn

    class Scaled(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(width)) * 0.1
            self.head = nn.Linear(width, 2)

        def forward(self, x):
            return self.head(self.scale * x)

Bad (moved):
    import torch
    from torch import nn

    class Tokens(nn.Module):
        def __init__(self, width, device):
            super().__init__()
            self.cls = nn.Parameter(torch.randn(1, 1, width)).to(device)

        def forward(self, x):
            return torch.cat([self.cls.expand(len(x), -1, -1), x], 1)

Good:
    import torch
    from torch import nn

    class Scaled(nn.Module):
        def __init__(self, width, device):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(width, device=device) * 0.1)
            self.head = nn.Linear(width, 2)

        def forward(self, x):
            return self.head(self.scale * x)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, External, Index, Site, is_module_class, is_test, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "parameter-lost",
    "architecture",
    "error",
    "parameter_table",
    suspects=("unregistered-submodules",),
    claims=("updates-not-applied",),
    forms={"computed": "something is computed from it", "moved": "it is moved to a device"},
    sure=("computed",),
)
_MOVES = ("cuda", "to", "mps", "xpu")
_COMPUTES = ("clone", "mul", "div", "add", "sub", "exp", "abs", "softmax", "sigmoid", "unsqueeze", "expand", "repeat", "view", "reshape", "t", "transpose")  # fmt: skip
_STAYS = re.compile(r"^cpu$|^'cpu'$|float|dtype")  # where, or what, it mostly is already


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("Parameter"):
        cls = index.class_of(site.function)
        if cls is None or is_test(site.function.path) or not is_module_class(index, cls) or not _is_kept(site):
            continue
        symbol = index.resolve(site.function, site.call.callee)
        trains = site.call.argument(1, "requires_grad")
        if trains is not None and trains.text == "False":
            continue  # a fixed filter
        if isinstance(symbol, External) and symbol.name.startswith("torch."):
            yield _examined(site)


def _is_kept(site: Site) -> bool:
    """As an attribute of the module."""
    target = site.event.targets[0] if site.event.kind == "assign" and len(site.event.targets) == 1 else None
    return (
        target is not None
        and target.kind == "path"
        and target.receiver is not None
        and target.receiver.text == site.function.self_name
    )


def _examined(site: Site) -> Finding:
    path, line, value = site.function.path, site.call.line, site.event.value
    name = written(site.event.targets[0])
    done = _done_to(value, site.call) if value is not None else None
    if done is None:
        return SAY.passed(path, line, f"{name} is a parameter as it is")
    form, what = done
    message = (
        f"{name} at {path}:{line} is {written(value) if value is not None else name}: the parameter is {what}, and what is kept is a tensor that "
        f"no optimizer steps and no checkpoint holds{_WHERE[form]}; expected the parameter made last."
    )
    return SAY.fail(path, line, message, (Link(path, line, f"a parameter is {what} before it is kept"),), form=form)


_WHERE = {"computed": "", "moved": ", where that is another device"}


def _done_to(value: Expr, made: Expr) -> tuple[str, str] | None:
    """(form, in words) of what is done to the parameter, if anything: all that stands around it in the statement."""
    if value is made:
        return None
    if value.kind == "binary" and made in value.parts:
        return "computed", f"an operand of {value.text}"
    if value.kind == "call" and value.receiver is made:
        if value.last in _MOVES and not any(_STAYS.search(written(part)) for part in value.arguments):
            return "moved", f"moved by {value.last}()"
        return ("computed", f"changed by {value.last}()") if value.last in _COMPUTES else None
    return None
