"""An evaluation leaves the last examples out.

drop_last=True keeps a small last batch from disturbing an update. Given to the loader of an evaluation it leaves up to
a batch of examples out of the score, which is then of fewer examples than there are, of others for each batch size, and,
where the loader shuffles, of others each time. With few batches that is a large part [drop-last-in-evaluation].

Question to answer: does the evaluation need full batches, or should every example count?

Fix: drop_last=False, and a mean that weights batches by their size.

Cannot see: options that a file or a command sets, loaders that a library makes (dataloader_drop_last), and mostly whether
the number of examples is a multiple of the batch size. Where the examples of a batch are compared with each other, full
batches are right and nothing is asked.

Bad:
    import torch
    from torch.utils.data import DataLoader

    @torch.no_grad()
    def accuracy(model, loader):
        hits = seen = 0
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
            seen += len(y)
        return hits / seen

    def score(model, dataset):
        test_loader = DataLoader(dataset, batch_size=256, shuffle=True, drop_last=True)
        return accuracy(model, test_loader)

Good:
    import torch
    from torch.utils.data import DataLoader

    @torch.no_grad()
    def accuracy(model, loader):
        hits = seen = 0
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
            seen += len(y)
        return hits / seen

    def score(model, dataset):
        test_loader = DataLoader(dataset, batch_size=256)
        return accuracy(model, test_loader)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from trainsleuth.facts import Expr, Frame, Function, Index, Literal, Site, Spot, is_test, makers, written
from trainsleuth.facts.data.lengths import possible_lengths
from trainsleuth.facts.data.loaders import is_spread, loader_sites, option_given
from trainsleuth.facts.data.purpose import is_named_evaluation, may_be_endless
from trainsleuth.facts.tracing.numbers import whole_number
from trainsleuth.finding import Finding, Link

from ._batchwise import compares_examples
from ._flags import is_never_reached
from ._loader_uses import Use, loader_uses
from ._verdicts import Verdicts

SAY = Verdicts(
    "evaluation-drops-last",
    "eval",
    "note",
    "",
    suspects=("another-data-fault",),
    claims=("drop-last-in-evaluation", "full-test-eval"),
    look="count the examples that the score is of, and compare with the length of the dataset",
)
_OFF = ("False", "None", "0")


def check(index: Index) -> Iterator[Finding]:
    sites = [site for site in loader_sites(index) if not is_test(site.function.path) and _drop_given(index, site)]
    uses: dict[Expr, list[Use]] = defaultdict(list)
    for use in loader_uses(index) if sites else ():
        uses[use.loader.call].append(use)
    for site in sites:
        yield _examined(index, site, uses[site.call])


def _drop_given(index: Index, site: Site, frame: Frame | None = None) -> tuple[Expr, Spot] | None:
    return option_given(index, site.call, Spot(site.function, site.position, frame), 8, "drop_last")


def _examined(index: Index, site: Site, uses: list[Use]) -> Finding:
    path, line = site.function.path, site.call.line
    if _drops(index, site, None) is False:
        return SAY.passed(path, line, "the last batch is kept")
    if _is_never_incomplete(index, site, None):
        return SAY.passed(path, line, "no batch is incomplete")
    if may_be_endless(index, site):
        return SAY.passed(path, line, "it may have no end")
    ways: dict[Frame | None, list[Use]] = defaultdict(list)
    for use in uses:
        ways[use.loader.spot.frame].append(use)
    for frame, mine in ways.items():
        whole = next((use for use in mine if use.whole), None)
        if whole is None or any(use.trains for use in mine) or not is_named_evaluation(site, frame):
            continue
        if _leaves_out(index, site, frame):
            if compares_examples(index, _evaluating(index, whole)):
                return SAY.passed(path, line, "its batches may be compared within: all of one size")
            return _question(site, whole)
    if not uses and is_named_evaluation(site, None):
        return SAY.open(path, line, "what goes over it is not resolved")
    return SAY.passed(path, line, "it is not seen to be for evaluation only, over all of its batches")


def _leaves_out(index: Index, site: Site, frame: Frame | None) -> bool:
    if not _drops(index, site, frame) or _is_never_incomplete(index, site, frame):
        return False
    return not is_never_reached(index, Spot(site.function, site.position, frame))


def _drops(index: Index, site: Site, frame: Frame | None) -> bool | None:
    """None where it is not resolved, or not the same in all that it may be."""
    given = _drop_given(index, site, frame)
    things = index.objects.of(*given) if given is not None else ()
    said = {thing.expr.text if isinstance(thing, Literal) else "?" for thing in things}
    return True if said == {"True"} else False if said.issubset(_OFF) else None


def _is_never_incomplete(index: Index, site: Site, frame: Frame | None) -> bool:
    """One example a batch, all in one, or a number that divides that of the examples."""
    spot = Spot(site.function, site.position, frame)
    given = option_given(index, site.call, spot, 1, "batch_size")
    if given is None or given[0].text in ("1", "None"):
        return given is not None or not is_spread(site.call)
    if any(made.kind == "call" and made.last == "len" for made, _ in makers(index, *given)):
        return True
    size = whole_number(index, *given)
    lengths = possible_lengths(index, site.call, spot) if size else ()
    return size == 1 or any(length and length % (size or 1) == 0 for length in lengths)


def _evaluating(index: Index, use: Use) -> Iterator[tuple[Function, int, int]]:
    yield use.function, use.line, use.end_line
    for one in index.functions_named(use.step) if use.step else ():
        yield one, one.line, one.end_line


def _question(site: Site, use: Use) -> Finding:
    path, line, call = site.function.path, site.call.line, site.call
    shuffle = call.argument(2, "shuffle")
    others = ", others each time" if shuffle is not None and shuffle.text == "True" else ""
    place = f"{use.function.path}:{use.line}"
    what = (
        f"the evaluation that {use.function.name} at {place} gives it to" if use.is_hook else f"what {place} computes"
    )
    message = (
        f"{written(call)} at {path}:{line} has drop_last=True, so {what} leaves out the examples after the last full batch{others}: does "
        "this evaluation need full batches? Expected drop_last=False."
    )
    chain = (
        Link(path, line, "drop_last=True: batches are full, and what is left is left out"),
        Link(use.function.path, use.line, "goes over it, and trains nothing"),
    )
    return SAY.fail(path, line, message, chain, "medium")
