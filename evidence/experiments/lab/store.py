"""The results as a file: JSON, numbers that are not finite as strings."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lab.experiment import FOLDER, Result

FILE = FOLDER / "results.json"
OTHER = FOLDER / "other_seeds.json"


def read(file: Path = FILE) -> dict[str, Result]:
    """The stored results by name; none when there is no file yet."""
    if not file.is_file():
        return {}
    stored = json.loads(file.read_text(encoding="utf-8"))["results"]
    return {plain["name"]: Result(**{**plain, "figures": _numbers(plain["figures"])}) for plain in stored}


def write(results: Iterable[Result], torch_version: str, file: Path = FILE) -> None:
    """Replaces the file."""
    ordered = sorted(results, key=lambda result: result.name)
    plain = {"torch": torch_version, "results": [_plain(asdict(result)) for result in ordered]}
    file.write_text(json.dumps(plain, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def torch_version(file: Path = FILE) -> str:
    return str(json.loads(file.read_text(encoding="utf-8"))["torch"])


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _numbers(figures: dict[str, dict[str, float | str]]) -> dict[str, dict[str, float]]:
    return {name: {kind: float(value) for kind, value in one.items()} for name, one in figures.items()}


def write_held(results: Iterable[Result]) -> None:
    """For each expectation, in how many of how many other seeds it came true."""
    held = {one.name: {text: [count, one.seeds] for text, count in one.held.items()} for one in results}
    known = {**read_held(), **held}
    OTHER.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", encoding="utf-8")


def read_held() -> dict[str, dict[str, list[int]]]:
    """What `write_held` wrote; nothing before it did."""
    held: dict[str, dict[str, list[int]]] = json.loads(OTHER.read_text(encoding="utf-8")) if OTHER.exists() else {}
    return held
