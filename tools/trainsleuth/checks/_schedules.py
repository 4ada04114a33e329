"""Learning-rate schedules: where the one that steps was made, and by what."""

from __future__ import annotations

from typing import NamedTuple

from trainsleuth.facts import Expr, Index, Instance, Site, Spot, called, makers, sounds_like_optimizer

from ._versions import names_torch


class Schedule(NamedTuple):
    """The call that made a schedule; `name` is the last name of its class or function."""

    name: str
    call: Expr
    spot: Spot


_FUNCTIONS = (
    "get_linear_schedule_with_warmup",
    "get_cosine_schedule_with_warmup",
    "get_cosine_with_hard_restarts_schedule_with_warmup",
    "get_polynomial_decay_schedule_with_warmup",
)
_CLASSES = (
    "ChainedScheduler", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR", "LambdaLR",
    "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR",
    "StepLR",
)  # fmt: skip
PLATEAU = "ReduceLROnPlateau"
MAKING = (*_CLASSES, *_FUNCTIONS)  # a constant rate is no schedule


def was_right_once(index: Index, path: str) -> str:
    """What says that `path` was written for a torch before 1.1, when schedules opened an epoch; "" if nothing does, or
    what tells the version names a later one only.
    """
    if (said := names_torch(index, path, "0.[1-4]|1.0")) is not None:
        return said
    part = index.part(path)
    for file in sorted(index.files, key=lambda file: file != path):
        for entry in index.files[file].imports if index.part(file) == part else ():
            if (entry.module, entry.name) == ("torch.autograd", "Variable"):
                return f"{file}:{entry.line} imports Variable, which nothing needs since 0.4"
    return ""


def schedules(index: Index, site: Site) -> list[Schedule]:
    """Of a step() call: the torch or transformers schedules that its receiver surely is; [] for anything else, and for one
    that waits for a plateau.
    """
    return [one for one in _stepped(index, site) if one.name != PLATEAU]


def plateaus(index: Index, site: Site) -> list[Schedule]:
    """Of a step() call: those that wait for a plateau among the schedules that its receiver may be."""
    return [one for one in _stepped(index, site) if one.name == PLATEAU]


def _stepped(index: Index, site: Site) -> list[Schedule]:
    receiver = site.call.receiver
    if receiver is None or site.call.last != "step" or sounds_like_optimizer(receiver):
        return []
    found: list[Schedule] = []
    here = Spot(site.function, site.position)
    for expr, spot in (*makers(index, receiver, here), (receiver, here)):
        is_one_of_several = expr.kind == "index" and len(expr.parts) == 1  # which of them the receiver itself says
        for call, at in _made(index, expr, spot) if not is_one_of_several else ():
            last = made_by(index, call, at)
            if last:
                found.append(Schedule(last, call, at))
    return list(dict.fromkeys(found))


def made_by(index: Index, call: Expr, spot: Spot) -> str:
    """Last name of the class or function of torch or transformers whose schedule the call makes, else ""."""
    name = called(index, call, spot)
    last = name.rpartition(".")[2]
    return last if (".lr_scheduler." in name and last[:1].isupper()) or last in _FUNCTIONS else ""


def _made(index: Index, expr: Expr, spot: Spot) -> list[tuple[Expr, Spot]]:
    """The call itself, and the constructor calls behind it: of a project function, or of a wrapper."""
    things = [t for t in index.objects.of(expr, spot) if isinstance(t, Instance) and t.call is not None and t.spot]
    own = [(expr, spot)] if expr.kind == "call" else []
    return [*own, *((t.call, t.spot) for t in things if t.call is not None and t.spot is not None)]
