"""One part of a run in a line: what it was, where, with which shapes and values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trainsleuth.observing.records import Seen
from trainsleuth.wording import shown


def words_of(one: Seen) -> str:
    """One part of a run in a line, "" for those that need no words of their own."""
    tell = _TELL.get((one.component, one.role))
    return tell(one, one.facts) if tell is not None else ""


def tells(component: str, role: str) -> bool:
    """Is there a line for parts of this role?"""
    return (component, role) in _TELL


def _dataset(one: Seen, facts: Mapping[str, Any]) -> str:
    holds = f", around {', '.join(facts['holds'])}" if "holds" in facts else ""
    size = f", {facts['examples']:,} examples" if "examples" in facts else ""
    return f"{_evaluated(one)}data: {one.name}{_at(one)}{size}{holds}"


def _loader(one: Seen, facts: Mapping[str, Any]) -> str:
    told = [f"batches of {facts['batch_size']}"] if "batch_size" in facts else []
    told += [f"{facts.get('workers', 0)} workers", str(facts.get("sampler", ""))]
    told += [f"collate {facts['collate']}"] if "collate" in facts else []
    return f"{_evaluated(one)}loader: {one.name} made{_at(one)}{_via(facts)}: {', '.join(filter(None, told))}"


def _batch(one: Seen, facts: Mapping[str, Any]) -> str:
    return f"{_evaluated(one)}batch fetched{_at(one)}: {_tensors(facts.get('tensors', ()))}"


def _model(one: Seen, facts: Mapping[str, Any]) -> str:
    frozen = facts.get("parameters", 0) - facts.get("trainable", 0)
    size = f", {facts.get('parameters', 0):,} parameters" + (f" ({frozen:,} frozen)" if frozen else "")
    wrapped = f", wrapped by {facts['wrapped_by']}" if "wrapped_by" in facts else ""
    holds = f", holds {', '.join(facts['holds'][:8])}" if "holds" in facts else ""
    return f"model: {one.name}{_at(one)}{size}{wrapped}{holds}"


def _call(one: Seen, facts: Mapping[str, Any]) -> str:
    mode = "training mode" if facts.get("training") else "evaluation mode"
    grad = "" if facts.get("grad") else ", no gradients"
    word = "evaluates" if one.component == "evaluation" else "called"
    given, gives = _tensors(facts.get("given", ())), _tensors(facts.get("gives", ()))
    return f"{word}{_at(one)} ({one.name}, {mode}{grad}): {given or 'no tensor'} -> {gives or 'no tensor'}"


def _loss(one: Seen, facts: Mapping[str, Any]) -> str:
    told = [f"= {shown(facts['value'])}"] if "value" in facts else []
    told += [f"of {_tensors(facts['given'])}"] if "given" in facts else []
    if "input" in facts:
        kind = {"unbounded": "unbounded values", None: ""}.get(facts.get("holds"), facts.get("holds"))
        told.append(f"of {_tensor(facts['input'])}" + (f" ({kind})" if kind else ""))
    told += [f"made by {facts['producer']['op']} at {facts['producer']['site']}"] if _site(facts) else []
    told += [f"against {_tensor(facts['target'])}"] if "target" in facts else []
    told += [f"reduction {facts['reduction']}"] if "reduction" in facts else []
    told += ["inside the model"] if facts.get("inside") else []
    return f"loss: {one.name}{_at(one)} {', '.join(told)}".rstrip()


def _site(facts: Mapping[str, Any]) -> str | None:
    return (facts.get("producer") or {}).get("site")


def _optimizer(one: Seen, facts: Mapping[str, Any]) -> str:
    groups = facts.get("groups", ())
    told = []
    for group in groups[:4]:
        values = {
            key: value for key, value in group.items() if key not in ("tensors", "numel", "trainable", "maximize")
        }
        told.append(f"{shown(values)} for {group.get('numel', 0):,} parameters in {group.get('tensors', 0)} tensors")
    more = f" and {len(groups) - 4} more groups" if len(groups) > 4 else ""
    rate = facts.get("first_step_lr")
    stepped = (
        f", first step with lr {shown(rate[0])}"
        if rate and rate[0] != (groups[0].get("lr") if groups else None)
        else ""
    )
    idle = "" if facts.get("stepped") else ", did not step"
    return f"optimizer: {one.name} made{_at(one)}{_via(facts)}: {'; '.join(told)}{more}{stepped}{idle}"


def _scheduler(one: Seen, facts: Mapping[str, Any]) -> str:
    when = "stepped in these steps" if facts.get("stepped") else "not stepped in these steps"
    return f"scheduler: {one.name} made{_at(one)}{_via(facts)}, {when}"


def _kept(one: Seen, facts: Mapping[str, Any]) -> str:
    keys = f" with {', '.join(facts['keys'])}" if "keys" in facts else ""
    return f"checkpoint {one.role}{_at(one)}: {one.name}{keys}"


def _evaluated(one: Seen) -> str:
    return "evaluation " if one.component == "evaluation" else ""


_TELL = {
    ("evaluation", "dataset"): _dataset,
    ("evaluation", "loader"): _loader,
    ("evaluation", "batch"): _batch,
    ("data", "dataset"): _dataset,
    ("data", "loader"): _loader,
    ("data", "batch"): _batch,
    ("model", "class"): _model,
    ("model", "call"): _call,
    ("evaluation", "evaluation call"): _call,
    ("checkpointing", "loaded by torch"): _kept,
    ("checkpointing", "saved by torch"): _kept,
    ("loss", "loss"): _loss,
    ("optimizer_scheduler", "optimizer"): _optimizer,
    ("optimizer_scheduler", "scheduler"): _scheduler,
}


def _at(one: Seen) -> str:
    through = f" through {one.lib}" if one.lib and one.path else ""
    return f" at {one.place}{through}" if one.place else ""


def _via(facts: Mapping[str, Any]) -> str:
    return f" (from {' < '.join(facts['via'])})" if facts.get("via") else ""


def _tensors(described: Iterable[Mapping[str, Any]]) -> str:
    return ", ".join(f"{one['name']} {_tensor(one)}".lstrip() for one in list(described)[:6])


def _tensor(one: Mapping[str, Any]) -> str:
    size = "x".join(map(str, one["shape"]))
    if "min" not in one:
        return f"{one['dtype']} {size or 'one number'}"
    values = f"in {shown(one['min'])}..{shown(one['max'])}" if size else f"= {shown(one['min'])}"
    return f"{one['dtype']} {size} {values}".replace("  ", " ")
