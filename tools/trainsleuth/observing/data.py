"""Where batches came from while the program ran: data sets, loaders, and the first batch of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainsleuth.observing.events import components, full_name, named, own_class, seen_part, site_of, via_of
from trainsleuth.observing.records import Seen
from trainsleuth.trace import Event, Trace


def data(trace: Trace) -> Iterator[Seen]:
    """The loaders that gave batches, each with its data set; then the batches themselves."""
    made = {event["id"]: event for event in components(trace, "loader")}
    for batch in components(trace, "batch"):
        component = "data" if _is_trained_on(trace, batch) else "evaluation"
        loader = made.get(batch["id"])
        if loader is not None:
            yield from _loader(component, _by_hand(loader, made.values()))
        yield seen_part(component, "batch", "batch", batch.get("site"), batch.get("lib"), tensors=batch["tensors"])


def _is_trained_on(trace: Trace, batch: Event) -> bool:
    """The next network that runs keeps a graph, or is in training mode; so it is where none ran any more."""
    after = trace.told[next(place for place, event in enumerate(trace.told) if event is batch) :]
    forward = next((event for event in after if event.get("op") == "forward"), None)
    return forward is None or bool(forward["grad"] or forward["training"])


def _by_hand(loader: Event, every: Iterable[Event]) -> Event:
    """A loader that a framework made anew from the user's: the user's own."""
    if not loader.get("lib"):
        return loader
    same = [one for one in every if not one.get("lib") and one["dataset"] == loader["dataset"]]
    alike = [one for one in same if (one["length"], one["batch_size"]) == (loader["length"], loader["batch_size"])]
    return next(iter(alike or same), loader)


def _loader(component: str, loader: Event) -> Iterator[Seen]:
    dataset = loader["dataset"]
    behind = [named(one) for one in loader["inner"]]
    yield seen_part(
        component, "dataset", full_name(dataset), dataset["defined"], examples=loader["length"], holds=behind
    )
    for one in loader["inner"]:
        if one["defined"]:
            yield seen_part(component, "dataset behind it", str(one["cls"]), one["defined"])
    collate = loader["collate"]
    own = named({"cls": collate["name"], "defined": collate["defined"]}) if collate["defined"] else None
    yield from own_class(component, "loader class", loader)
    yield seen_part(component, "loader", str(loader["cls"]), site_of(loader), loader.get("lib"), via=via_of(loader["stack"]),
                batch_size=loader["batch_size"], workers=loader["workers"], sampler=loader["sampler"], collate=own)  # fmt: skip
