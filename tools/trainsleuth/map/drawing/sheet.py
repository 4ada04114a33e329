"""Draw the anatomy of a program within a budget: the text, and the places that it shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..configuration import launch_of
from ..launching.handed_on import only_program_of
from ..launching.missing_files import missing_files
from ..loop.idle_features import SAID
from ..parts import Anatomy
from ..program import Program
from ..programs.unreached import trained_elsewhere
from ..records import COMPONENTS, Map, Place
from .layout import Sheet, body, choose, heading, ranked
from .scale import largest_files, lines_of_code, most_changed
from .wording import clean

FEATURE_PLACES = 2


def draw(anatomy: Anatomy, budget: int, below: Sequence[str] = ()) -> Map:
    """The map; its text has at most `budget` tokens. `below` are lines that end it, whatever else fits."""
    head = list(_header(anatomy, budget))
    shown = _feature_places(anatomy, budget)
    foot = [*_footer(anatomy, shown, budget), *below]
    sheet = Sheet(budget)
    sheet.room -= sum(len(line) + 1 for line in (*head, *foot)) + len(_budget_line(budget, budget)) + 1
    sheet.room -= sum(len(heading(name, part)) + 1 for name, part in anatomy.parts.items())
    if sheet.room < 0:
        head, foot, shown = head[:2], list(below), dict.fromkeys(anatomy.features, ())
        sheet.room = budget * 4 - sum(len(line) + 1 for line in (*head, *foot)) - 40
        sheet.room -= sum(len(heading(name, part)) + 1 for name, part in anatomy.parts.items())
    chosen = choose(anatomy.parts, sheet)
    text = "\n".join([*head, *body(anatomy.parts, chosen), *foot])
    text = _fitted(text + "\n", budget)
    return Map(
        anatomy.framework,
        anatomy.trains,
        anatomy.program.entry.path if anatomy.program is not None else "",
        budget,
        {name: replace(anatomy.parts[name], places=chosen[name]) for name in COMPONENTS},
        {name: replace(part, places=tuple(shown.get(name, ()))) for name, part in anatomy.features.items()},
        text,
        anatomy.programs,
        anatomy.recipes,
        anatomy.traps,
        anatomy.unresolved,
        {one.path: one.reason for one in anatomy.index.repository.skipped},
    )


def _fitted(text: str, budget: int) -> str:
    """With the line that says how much was used; the number cannot change its own length."""
    used = -(-(len(text) + len(_budget_line(budget, budget)) + 1) // 4)
    return f"{text}{_budget_line(used, budget)}\n"


def _budget_line(used: int, budget: int) -> str:
    return f"{used:>{len(str(budget))}} of {budget} tokens"


def _trains(anatomy: Anatomy) -> str:
    if anatomy.trains:
        return "trains"
    if not anatomy.is_readable:
        index = anatomy.index  # of code that was left out nothing is known
        seen = index.repository.skipped or index.is_held(_TRAINS_IN_ANY)
        return "NOT READ, for it is not PyTorch" if seen else "TRAINS NOTHING (no gradient, optimizer or fit in it)"
    if anatomy.program is None and anatomy.unresolved:
        return "NOT SEEN TO TRAIN, code was left out"
    elsewhere = anatomy.program is not None and trained_elsewhere(anatomy.program) is not None
    return "NOT SEEN TO TRAIN, other code here does" if elsewhere else "TRAINS NOTHING"


_TRAINS_IN_ANY = re.compile(  # TensorFlow, JAX, MXNet, Paddle, scikit-learn ...
    rb"(?i:gradient_?tape|minimize\(|gradients?\b|value_and_grad|\bgrad\(|backward\(|optimi[sz]er|optax|train_?state|"
    rb"\b(?:partial_)?fit\w*\(|\btrain\w*\(|train_(?:step|op|and_evaluate|on_batch))"
)


def _header(anatomy: Anatomy, budget: int) -> Iterator[str]:
    index, program = anatomy.index, anatomy.program
    code = lines_of_code(index)
    yield f"{anatomy.framework} · {_trains(anatomy)} · {len(code)} files, {sum(code.values()):,} lines"
    if program is None:
        return
    launch = launch_of(program, None)
    where = f" ({launch.path}:{launch.line})" if launch is not None and launch.path else ""
    said = f" · launch: {clean(launch.text, 110)}{where}" if launch is not None else ""
    lost = list(missing_files(index.repository, launch.text)) if launch is not None else []
    said += f", but {lost[0]} is not there" if lost else ""
    yield f"entry {program.entry.path}{said}"
    if (scope := anatomy.scope) is not None and scope in index.files and scope != program.entry.path:
        loads = "which loads it" if program.is_loaded(scope) else "which is not seen to load it"
        loads = "which it starts" if only_program_of(index, scope) == program.entry.path else loads
        yield clean(
            f"{scope} starts no training by itself: {program.entry.path} is mapped, {_chosen_by(program) or loads}", 160
        )
    if budget < 800:
        return
    changed = most_changed(index)
    often = f" · most changed in {changed[1].commits} commits {changed[0]}" if changed is not None else ""
    yield f"largest {largest_files(index)}{clean(often, 160)}"
    if anatomy.recipe is not None:
        yield f"recipe {anatomy.recipe}"
    if anatomy.recipes:
        yield f"{len(anatomy.recipes)} recipes choose other parts, name one with --recipe: " + clean(
            " · ".join(_by_folder(anatomy.recipes)), max(120, budget // 8)
        )
    if anatomy.programs:
        yield "training programs, the likeliest first; map another with --scope:"
        yield " " + clean(" · ".join(anatomy.programs), max(200, budget // 3))


def _chosen_by(program: Program) -> str:
    """Of what a launcher runs the setting that names it."""
    if program.start is None:
        return ""
    setting = program.start.named.setting
    return f"which {setting.key} names ({setting.path}:{setting.line})"


def _by_folder(paths: tuple[str, ...]) -> Iterator[str]:
    """Paths as they are while they are few, else the folders that hold them with how many."""
    if len(paths) <= 4:
        yield from paths
        return
    folders = Counter(path.rpartition("/")[0] or "." for path in paths)
    yield from (f"{folder}/ ({count})" for folder, count in sorted(folders.items()))


def _feature_places(anatomy: Anatomy, budget: int) -> dict[str, tuple[Place, ...]]:
    count = FEATURE_PLACES if budget >= 1500 else 1 if budget >= 800 else 0
    return {name: tuple(list(ranked(part.places[:20], name))[:count]) for name, part in anatomy.features.items()}


def _footer(anatomy: Anatomy, shown: Mapping[str, tuple[Place, ...]], budget: int) -> Iterator[str]:
    if budget < 800:
        return
    if anatomy.trains:
        yield "# features"
        missing = [name for name, part in anatomy.features.items() if not part.places]
        for name, part in anatomy.features.items():
            if part.places:
                yield f" {name}: " + ", ".join(f"{p.path}:{p.line}" for p in shown[name])
        for name in missing:
            if anatomy.features[name].why.startswith(SAID):
                yield f" {name} {clean(anatomy.features[name].why, 100)}"
        missing = [name for name in missing if not anatomy.features[name].why.startswith(SAID)]
        if missing:
            yield f" none found: {', '.join(missing)}"
    if anatomy.traps:
        yield "# look twice"
        for trap in anatomy.traps[: max(1, budget // 500)]:
            yield f" {trap}"
    if anatomy.unresolved:
        yield "# unresolved"
        for one in anatomy.unresolved[: max(2, budget // 500)]:
            yield f" {clean(one, 160)}"
