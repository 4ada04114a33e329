"""Places of one component that say something of another as well, behind what it has of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from trainsleuth.facts import MODULE_BODY, Function
from trainsleuth.repository import is_python

from ..configuration import Truth
from ..drawing.source_text import source_lines
from ..drawing.statements import enclosing, is_class_body
from ..program import Program
from ..programs.standing import off
from ..records import SHARED, Part, Place

STRONG = 0.3  # of a place that another component gets too
MADE, SET, DONE, SAID = 0.3, 0.36, 0.5, 0.3  # of its score there
AROUND, SAID_NEAR = 10, 0.2  # lines from such a place that are read as well
MAX_OF_EACH = 60  # places of one component that are read for words of others
_SAYS = {
    "data": r"loader|dataset|\bbatch|transform|augment|collate|sampler|\benvs?\b|\bobs\b|\.reset\(|rollout|replay|buffer|tokeniz|preprocess",
    "model": r"\bmodel|\bnet\b|_net\b|\w+Net\(|encoder|decoder|backbone|policy|actor|critic|requires_grad|DataParallel|\bnn\.",
    "training_loop": r"backward\(|opt\w*\.step\(|zero_grad|\bepoch|\bfor .* in .*(?:loader|range)|\.fit\(|\.train\(",
    "config": r"add_argument|\boption\(|getattr\(\w*(?:args|opts?|cfg|config)\b|\bfield\(|resolve|_setting|max_epochs|num_\w+ *[:=]|batch_size|^ *--\w+",
    "loss": r"loss|criterion|reward|advantage|\b(?:ce|mse|bce|l1|kl)\b|entropy|penalty|objective|logits|\bpred|targets?\b",
    "optimizer_scheduler": r"optim|lr_?sched|\bscheduler\.step|\blr\b|learning_rate|requires_grad|warm_?up|weight_decay|grad_scaler|scaler\.(?:step|scale|update)",
    "logging": r"\bprint\(|(?:\b|_)log(?:s|ger|gers|ging)?(?:\b|_)|writer|wandb|tensorboard|(?<!para)meters?\b|progress|\.item\(|\bstats?\b|visuali[sz]|plot|summar|dump\(|\bmsg|outstr|timer|verbose|display|tqdm",
    "checkpointing": r"checkpoint|ckpt|\bsave|resum|restor|load_state|\.pth?\b|pretrained|work_dir|output_dir|snapshot",
    "evaluation": r"(?:\b|_)(?:val|test|eval(?!\([\"'])|best|acc|iou|psnr|metrics?)(?:\b|_)|(?<!in)valid|evaluat|accuracy|infer",
}
_SAYS_NOTHING = re.compile(r"\s*(?:#|$|class |import |from \S+ import |[rRbBuU]?[\"']{3})")
_OPENS = re.compile(r"\"{3}|'{3}")
_PATTERNS = {
    name: (re.compile(pattern.replace(r"\b", "").lower()), re.compile(pattern, re.I)) for name, pattern in _SAYS.items()
}  # without boundaries a search of small letters skips to those that a match begins with: that one decides most lines


def with_shared(program: Program, truth: Truth, parts: Mapping[str, Part]) -> dict[str, Part]:
    """What the file that is started makes belongs to the entry, what files of settings say to the configuration,
    what the training step does for its loss to the loop.
    """
    more = {
        "entry_point": list(_of(parts, MADE, lambda place: place.path == program.entry.path)),
        "config": list(_of(parts, SET, lambda place: not is_python(place.path) and not _is_document(place))),
        "training_loop": list(_in_step(program, parts)),
    }
    for name, place in _said(program, truth, parts):
        more.setdefault(name, []).append(place)
    return {name: _joined(part, more.get(name, ())) for name, part in parts.items()}


def _said(program: Program, truth: Truth, parts: Mapping[str, Part]) -> Iterator[tuple[str, Place]]:
    """Lines of other components, or near them, that speak of this one: if psnr > best_psnr, shown where checkpoints are written."""
    lines = cache(lambda path: list(_without_texts(source_lines(program.index, path))))
    said = cache(lambda path, line: _speaks_of(lines(path)[line - 1]))
    runs = cache(lambda path, held, near: _runs_with(program, truth, path, held, near))
    for other, part in parts.items():
        for place in part.places[:MAX_OF_EACH]:
            if place.score < STRONG or _is_document(place) or not program.is_loaded(place.path):
                continue
            last = min(len(lines(place.path)), place.line + AROUND)
            for line in range(max(1, place.line - AROUND), last + 1):
                names = [name for name in said(place.path, line) if name != other or line != place.line]
                if names and (line == place.line or runs(place.path, place.line, line)):
                    share = SAID if line == place.line else SAID_NEAR
                    shared = place._replace(role=SHARED, line=line, score=share * place.score)
                    yield from ((name, shared) for name in names)


def _runs_with(program: Program, truth: Truth, path: str, held: int, near: int) -> bool:
    """A line of the function that holds the place, or of another that the program reaches; in a file of settings any."""
    file = program.index.files.get(path)
    if file is None:
        return True
    function = enclosing(file, near)
    if function is not enclosing(file, held) and (
        function is file.body or is_class_body(file, function) or not program.is_reached(function)
    ):
        return False
    return not off(program, truth, function, near, hops=0)


def _without_texts(lines: Iterable[str]) -> Iterator[str]:
    """Lines of source, those within a text in three quotes empty."""
    within = ""
    for line in lines:
        if within:
            within = "" if within in line else within
            yield ""
            continue
        opened = _OPENS.search(line)
        if opened is not None and line.count(opened[0]) % 2:
            within = opened[0]
        yield line


def _speaks_of(line: str) -> tuple[str, ...]:
    """The components that a line of source names; none for a comment, an import or a class."""
    if _SAYS_NOTHING.match(line):
        return ()
    small = line.lower()
    return tuple(name for name, (loose, pattern) in _PATTERNS.items() if loose.search(small) and pattern.search(line))


def _of(parts: Mapping[str, Part], share: float, belongs: Callable[[Place], bool]) -> Iterator[Place]:
    for part in parts.values():
        for place in part.places:
            if place.score >= STRONG and belongs(place):
                yield place._replace(role=SHARED, score=share * place.score)


def _in_step(program: Program, parts: Mapping[str, Part]) -> Iterator[Place]:
    """The functions from the step down to the loss; the loss and the networks in them and in the class that steps."""
    for function in dict.fromkeys(stage.function for stage in program.training.stages):
        if function.name != MODULE_BODY:
            yield program.at(function, function.line, "step", DONE * program.weight(function) ** 0.3)
    step = program.training.step
    if step is None:
        return
    inside = list(_ranges(program, step))
    for name in ("loss", "model"):
        for place in parts[name].places:
            if place.score >= STRONG and place.path == step.path and any(place.line in lines for lines in inside):
                yield place._replace(score=DONE * place.score)


def _ranges(program: Program, step: Function) -> Iterator[range]:
    """The lines of the step: the methods of its class but the one that makes it, else from the loop around its first stage on."""
    cls = program.index.class_of(step)
    if cls is not None:
        yield from (range(m.line + 1, m.end_line + 1) for name, m in cls.methods.items() if name != "__init__")
        return
    own = (one.event for one in program.training.stages if one.function is step)
    loop = next((step.loops[event.block.loops[0]] for event in own if event.block.loops), None)
    if loop is not None or step.name != MODULE_BODY:
        yield range(loop.line if loop is not None else step.line + 1, step.end_line + 1)


def _is_document(place: Place) -> bool:
    return place.path.endswith((".md", ".rst", ".sh", ".txt"))


def _joined(part: Part, more: Sequence[Place]) -> Part:
    """Behind its own places by their scores; a component of which nothing was found stays so."""
    known = {(place.path, place.line) for place in part.places}
    best: dict[tuple[str, int], Place] = {}
    for place in more:
        key = (place.path, place.line)
        if part.places and key not in known and (key not in best or best[key].score < place.score):
            best[key] = place
    return replace(part, places=tuple(sorted((*part.places, *best.values()), key=lambda place: -place.score)))
