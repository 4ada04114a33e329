"""What the map answers of a reading, with places; a question that it cannot answer is left out."""

from __future__ import annotations

import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from trainsleuth.map import Anatomy, Part, Place
from trainsleuth.map.drawing.scale import largest_files, lines_of_code, most_changed
from trainsleuth.map.loop.idle_features import SAID
from trainsleuth.map.parts import clean, source_lines
from trainsleuth.map.records import FILLING

MOST_PLACES = 6
KINDS = {
    "argparse": r"ArgumentParser|add_argument|parse_args",
    "click or typer": r"@click\.|typer\.",
    "a dataclass": r"@dataclass|HfArgumentParser",
    "Hydra": r"hydra\.main|_target_|instantiate\(",
    "OmegaConf": r"OmegaConf",
    "absl flags": r"flags\.DEFINE|app\.run",
    "fire": r"fire\.Fire",
    "tyro": r"tyro\.cli",
    "exec of a file": r"\bexec\(",
}
FILES = {".yaml": "YAML", ".yml": "YAML", ".json": "JSON", ".toml": "TOML", ".gin": "gin"}
REQUIREMENTS = ("requirements.txt", "pyproject.toml", "environment.yml", "environment.yaml", "setup.py", "setup.cfg")
SHOWN = re.compile(r"add_(?:image|images|audio|text|figure|video)|make_grid|(?:wandb|trackio)\.(?:Image|Audio|Video|Table|Html)|log_(?:image|images|audio|text)|save_image|imshow|savefig")  # fmt: skip


class Reply(NamedTuple):
    """An answer and the places that back it."""

    answer: str
    places: tuple[str, ...] = ()


def replies(anatomy: Anatomy) -> Mapping[str, Reply]:
    """By the id of the question."""
    given = {id: reply(anatomy) for id, reply in _REPLIES.items()}
    return {id: reply for id, reply in given.items() if reply is not None}


def _of(part: Part, among: Callable[[Place], bool] = lambda place: True) -> Reply | None:
    """The places of a part that was found, or that a framework holds, in the words of their lines."""
    places = [one for one in part.places if among(one) and one.role not in FILLING][:MOST_PLACES]
    if part.status not in ("found", "elsewhere") or not (places or part.status == "elsewhere"):
        return None
    words = "; ".join(dict.fromkeys(place.text for place in places[:3] if place.text))
    held = part.why if part.status == "elsewhere" else ""
    return Reply(": ".join(filter(None, (held, words))) or "at these places", _where(places))


def _where(places: Iterable[Place]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{place.path}:{place.line}" for place in places))


def _component(name: str, among: Callable[[Place], bool] = lambda place: True) -> Callable[[Anatomy], Reply | None]:
    return lambda anatomy: _of(anatomy.parts[name], among) if anatomy.trains else None


def _task(anatomy: Anatomy) -> Reply | None:
    """The first words of the README."""
    named = [path for path in anatomy.index.repository.files if re.fullmatch(r"readme\.(?:md|rst|txt)", path, re.I)]
    for path in named[:1]:
        lines = source_lines(anatomy.index, path)
        told = [(n, line.strip()) for n, line in enumerate(lines, 1) if re.match(r"[A-Za-z*`]", line.strip())]
        told = [(n, line) for n, line in told if len(line) > 30 and "](" not in line[:4]]
        if told:
            return Reply(f"the README begins: {clean(told[0][1], 200)}", (f"{path}:{told[0][0]}",))
    return None


def _launch(anatomy: Anatomy) -> Reply | None:
    commands = anatomy.program.entry.commands if anatomy.program is not None else ()
    found = next((one for one in commands if one.text), None)
    if found is not None:
        return Reply(clean(found.text, 200), (f"{found.path}:{found.line}",))
    part = anatomy.parts["entry_point"]
    started = [place for place in part.places if "__main__" in place.text]
    if anatomy.program is None or not started:
        return None
    return Reply(f"python {shlex.quote(anatomy.program.entry.path)} (no command is written down)", _where(started[:1]))


def _framework(anatomy: Anatomy) -> Reply | None:
    if anatomy.program is None:
        return None
    trains = "" if anatomy.trains else "; it trains nothing"
    return Reply(anatomy.framework + trains, _where(anatomy.parts["training_loop"].places[:1]))


def _size(anatomy: Anatomy) -> Reply | None:
    code = lines_of_code(anatomy.index)
    told = f"{len(code)} files, {sum(code.values()):,} lines; the largest: {largest_files(anatomy.index)}"
    return Reply(told) if code else None


def _most_changed(anatomy: Anatomy) -> Reply | None:
    changed = most_changed(anatomy.index)
    return Reply(f"of the latest {changed[1].commits} commits, so many changed: {changed[0]}") if changed else None


def _dependencies(anatomy: Anatomy) -> Reply | None:
    files = anatomy.index.repository.files
    named = [path for path in files if path in REQUIREMENTS or path.startswith("requirements/")]
    own = {path.split("/")[0].removesuffix(".py") for path in files}
    counted = Counter(
        top
        for one in anatomy.index.files.values()
        for top in {entry.module.partition(".")[0] for entry in one.imports if entry.module and not entry.level}
    )
    tops = [top for top, _ in counted.most_common() if top not in own and top not in sys.stdlib_module_names]
    if not tops:
        return None
    return Reply(f"imported: {', '.join(tops[:15])}", tuple(f"{path}:1" for path in named[:2]))


def _configuration_kind(anatomy: Anatomy) -> Reply | None:
    places = anatomy.parts["config"].places
    kinds: dict[str, Place] = {}
    for place in places:
        suffix = "." + place.path.rpartition(".")[2]
        if suffix in FILES:
            kinds.setdefault(FILES[suffix], place)
        for kind, pattern in KINDS.items():
            if re.search(pattern, place.text):
                kinds.setdefault(kind, place)
    return Reply(", ".join(kinds), _where(kinds.values())) if kinds else None


def _features(anatomy: Anatomy) -> Reply | None:
    found = {name: part.places[0] for name, part in anatomy.features.items() if part.places}
    if not anatomy.trains or anatomy.program is None:
        return None
    said = {name: part.why for name, part in anatomy.features.items() if part.why.startswith(SAID)}
    missing = [name.replace("_", " ") for name in anatomy.features if name not in found and name not in said]
    none = f"; no sign of {', '.join(missing)} in the code that the entry reaches" if missing else ""
    told = ", ".join(name.replace("_", " ") for name in found) or "none of them seen"
    told += "".join(f"; {name.replace('_', ' ')} {why}" for name, why in said.items() if name not in found)
    return Reply(told + none, _where(found.values()))


def _resume(anatomy: Anatomy) -> Reply | None:
    return _of(anatomy.features["resume"]) if "resume" in anatomy.features else None


def _is_scheduled(place: Place) -> bool:
    return bool(re.search(r"sched|lr\b|learning_rate|warmup", f"{place.role} {place.text}", re.I))


def _is_network(place: Place) -> bool:
    return place.role in ("class", "forward", "observed")


_REPLIES: Mapping[str, Callable[[Anatomy], Reply | None]] = {
    "task": _task,
    "launch": _launch,
    "framework": _framework,
    "size": _size,
    "most-changed": _most_changed,
    "dependencies": _dependencies,
    "configuration-kind": _configuration_kind,
    "hyperparameters": _component("config"),
    "entry": _component("entry_point"),
    "logging": _component("logging"),
    "data": _component("data"),
    "model": _component("model", _is_network),
    "loss": _component("loss"),
    "iteration": _component("training_loop"),
    "optimizer": _component("optimizer_scheduler", lambda place: place.role not in ("stepped", "scaler")),
    "schedule": _component("optimizer_scheduler", _is_scheduled),
    "features": _features,
    "evaluation": _component("evaluation"),
    "visible-outputs": _component("logging", lambda place: bool(SHOWN.search(place.text))),
    "checkpoint": _component("checkpointing"),
    "resume": _resume,
}
