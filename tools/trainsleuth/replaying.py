"""The step of a bundle tried here: in the user's own program, with its weights, its optimizers and its batch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trainsleuth.probing import ProbeReport, Request, run_probes

ASKS = frozenset({"first_nonfinite", "activations", "shapes"})
"""Probes of one step; what others say rests on a run that began by itself."""
STEPS = 12
VERSION = 1


class BundleError(ValueError):
    """What was named is no bundle that can be read."""


@dataclass(frozen=True)
class Bundle:
    """`told` is bundle.json: "breach", "message", "n" (the step), "site", "rank", "command", "history" of losses, and more."""

    folder: Path
    told: Mapping[str, Any]

    @property
    def words(self) -> str:
        """What happened, where, in half a sentence."""
        place = f" at {self.told['site']}" if self.told.get("site") else ""
        rank = f", rank {self.told['rank']}" if self.told.get("rank") is not None else ""
        return f"step {self.told['n']}{rank}: {self.told['message']}{place}"


@dataclass(frozen=True)
class Replayed:
    """`put` is what of the bundle fitted into the program: "modules", "optimizers", "batches" (how often), "unfit"; empty
    where no step was seen.
    """

    bundle: Bundle
    report: ProbeReport
    put: Mapping[str, Any]


def read_bundle(folder: Path) -> Bundle:
    """Raises BundleError."""
    for name in ("bundle.json", "tensors.pt"):
        if not (folder / name).is_file():
            raise BundleError(
                f"{folder} is no bundle: it holds no {name}; trainsleuth watch writes one at the first breach"
            )
    try:
        told = json.loads((folder / "bundle.json").read_text("utf-8"))
        missing = [name for name in ("n", "message", "version") if name not in told]
    except (TypeError, ValueError) as error:
        raise BundleError(f"{folder / 'bundle.json'} cannot be read: {error}") from error
    if missing or told["version"] != VERSION:
        raise BundleError(
            f"{folder} is a bundle of another version than {VERSION}: replay it with the trainsleuth that wrote it"
        )
    return Bundle(folder.resolve(), told)


def replay(bundle: Bundle, request: Request) -> Replayed:
    """Runs the command of the request for a few steps with the step of the bundle in it. Raises ProbeError."""
    asked = replace(request, only=request.only or ASKS, steps=request.steps or STEPS)
    report = run_probes(asked.with_listener("from_bundle", bundle=str(bundle.folder)))
    told = [event for run in report.runs for event in run.events if event.get("kind") == "put_back"]
    return Replayed(bundle, report, told[-1] if told else {})
