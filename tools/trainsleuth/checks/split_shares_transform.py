"""The parts of a split are given transforms of their own, and share the dataset that these are set on.

random_split() and Subset copy nothing: val.dataset is the very dataset that train reads too. Setting its transform for
the validation examples takes the augmentation away from training as well, or, where the training part comes last,
augments the validation examples [subset-shares-dataset]. The part itself has no transform: what is set on a Subset is
never read.

Fix: a dataset of its own for each part, with the same indices, or a wrapper that applies the transform of its part.

Cannot see: transforms that a method sets, parts in a list, what a part is for where its name does not say so, examples
that are read before the transform is set by more than a loop over the part.

Bad:
    from torch.utils.data import DataLoader, random_split
    from torchvision import transforms
    from torchvision.datasets import ImageFolder

    augment = transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()])
    plain = transforms.Compose([transforms.Resize((224, 224)), transforms.ToTensor()])

    def loaders(folder):
        dataset = ImageFolder(folder, transform=augment)
        train_set, val_set = random_split(dataset, [0.8, 0.2])
        val_set.dataset.transform = plain
        return DataLoader(train_set, 32, shuffle=True), DataLoader(val_set, 32)

Bad (what is set on a part is never read):
    from torch.utils.data import DataLoader, random_split
    from torchvision import transforms
    from torchvision.datasets import ImageFolder

    augment = transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()])
    plain = transforms.Compose([transforms.Resize((224, 224)), transforms.ToTensor()])

    def loaders(folder):
        dataset = ImageFolder(folder, transform=augment)
        train_set, val_set = random_split(dataset, [0.8, 0.2])
        val_set.transform = plain
        return DataLoader(train_set, 32, shuffle=True), DataLoader(val_set, 32)

Good:
    import torch
    from torch.utils.data import DataLoader, Subset
    from torchvision import transforms
    from torchvision.datasets import ImageFolder

    augment = transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()])
    plain = transforms.Compose([transforms.Resize((224, 224)), transforms.ToTensor()])

    def loaders(folder):
        train, val = ImageFolder(folder, transform=augment), ImageFolder(folder, transform=plain)
        order = torch.randperm(len(train)).tolist()
        cut = len(order) * 4 // 5
        train_set, val_set = Subset(train, order[:cut]), Subset(val, order[cut:])
        return DataLoader(train_set, 32, shuffle=True), DataLoader(val_set, 32)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainsleuth.facts import Block, Expr, Function, Index, is_sibling, is_test, written
from trainsleuth.facts.data.purpose import names_evaluation
from trainsleuth.facts.data.subsets import Part, parts_in, share, splits
from trainsleuth.finding import Finding, Link

from ._augmenting import difference
from ._part_settings import (
    Had,
    Setting,
    had,
    has_own,
    is_gone_over,
    is_handed,
    is_set_elsewhere,
    is_set_late,
    is_used,
    settings,
)
from ._verdicts import Verdicts

SAY = Verdicts(
    "split-shares-transform",
    "data",
    "error",
    "batch_as_seen",
    suspects=("augmentation",),
    claims=("subset-shares-dataset",),
    forms={
        "written": "of two transforms that are written out one draws, and a part gets the other one",
        "other": "other transforms and switches",
    },
    sure=("written",),
)
_SETS = re.compile(rb"\.dataset\.\w+ *=(?!=)")


def check(index: Index) -> Iterator[Finding]:
    said: dict[Function, dict[Expr, Finding]] = {}
    sites = list(splits(index))
    for function in (*(site.function for site in sites), *(index.functions_holding(_SETS) if sites else ())):
        if function not in said:
            said[function] = dict(_of_function(index, function))
    for site in sites:
        found = said[site.function].pop(site.call, None)
        yield found or SAY.passed(site.function.path, site.call.line, "nothing is set through its parts")
    for rest in said.values():  # what another function cuts
        yield from rest.values()


def _of_function(index: Index, function: Function) -> Iterator[tuple[Expr, Finding]]:
    """By the split whose part the last value is set through: that value holds for all. A failure comes last."""
    parts = list(parts_in(index, function)) if not is_test(function.path) else []
    found = list(settings(function, parts)) if parts else []
    told: list[tuple[Expr, Finding]] = []
    for place, one in enumerate(found):
        if one.unread:
            told.append((one.part.call, _on_a_part(index, parts, found[:place], one)))
        elif not any(_is_alike(parts, one, later) for later in found[place + 1 :]):
            told.append((one.part.call, _on_the_whole(index, parts, found[:place], one)))
    yield from sorted(told, key=lambda pair: ("pass", "open", "fail").index(pair[1].outcome))


def _is_alike(parts: list[Part], one: Setting, other: Setting) -> bool:
    """Both set the same of the same dataset, in one run."""
    if one.attribute != other.attribute or other.unread or is_sibling(_block(one), _block(other)):
        return False
    return share(parts, one.part, other.part)


def _on_the_whole(index: Index, parts: list[Part], earlier: list[Setting], one: Setting) -> Finding:
    path, line, name = one.spot.function.path, one.line, one.part.name
    if has_own(one.part, one.spot.position):
        return SAY.passed(path, line, f"{name} is given a dataset of its own")
    if names_evaluation(name) is None:
        return SAY.open(path, line, f"what {name} is for is not known by its name")
    others = [
        part
        for part in parts
        if names_evaluation(part.name) is (not names_evaluation(name)) and share(parts, part, one.part)
        if is_used(part) and not has_own(part, len(one.spot.function.events))
    ]
    if not others:
        return SAY.passed(path, line, f"no part for another purpose shares the dataset of {name}")
    before = [
        x for x in earlier if _is_alike(parts, one, x) and names_evaluation(x.part.name) is not names_evaluation(name)
    ]
    start = before[-1].spot.position if before else one.part.spot.position
    names = {part.name for part in others}
    if is_set_late(index, one) or is_set_elsewhere(index, one) or is_gone_over(one, names, start):
        return SAY.open(path, line, f"the examples of {others[0].name} may be read before it is set, or it is set anew")
    lost = before[-1:] or had(index, parts, one)
    form = _form(index, lost, one)
    if form in ("", "same"):
        return _undecided(form, path, line, others[0].name)
    shown, where = _shown(lost[0])
    message = (
        f"{name}.dataset at {path}:{line} is the dataset that {others[0].name} reads too ({written(one.part.call)}, line {one.part.line}), so "
        f"{written(one.value)} becomes the {one.attribute} of both, and {others[0].name} loses {shown} ({where.path}:{where.line}): expected "
        "a dataset of its own for each part."
    )
    chain = (
        where,
        Link(path, one.part.line, f"{name} and {others[0].name} read the same dataset"),
        Link(path, line, f"{one.attribute} of that dataset is now {written(one.value)}"),
    )
    return _said(form, path, line, message, chain)


def _on_a_part(index: Index, parts: list[Part], earlier: list[Setting], one: Setting) -> Finding:
    path, line, name = one.spot.function.path, one.line, one.part.name
    if is_handed(one):
        return SAY.open(path, line, f"what {name} is given to may read its {one.attribute}")
    lost = [x for x in earlier if _is_alike(parts, one, x)][-1:] or had(index, parts, one)
    form = _form(index, lost, one)
    if form in ("", "same"):
        return _undecided(form, path, line, name)
    shown, where = _shown(lost[0])
    message = (
        f"{name} at {path}:{line} is a part ({written(one.part.call)}, line {one.part.line}), which reads the examples of its dataset and no "
        f"{one.attribute} of its own, so {written(one.value)} is never used, and {shown} is ({where.path}:{where.line}): expected a dataset "
        "of its own for each part."
    )
    chain = (
        where,
        Link(path, one.part.line, f"{name} is a Subset of {written(one.part.whole)}"),
        Link(path, line, f"{one.attribute} is set on the Subset"),
    )
    return _said(form, path, line, message, chain)


def _shown(lost: Setting | Had) -> tuple[str, Link]:
    path = lost.spot.function.path
    if isinstance(lost, Setting):
        return written(lost.value), Link(path, lost.line, f"{lost.part.name} is to have {written(lost.value)}")
    return f"what {written(lost.made)} gave", Link(path, lost.made.line, f"the dataset is {written(lost.made)}")


def _said(form: str, path: str, line: int, message: str, chain: tuple[Link, ...]) -> Finding:
    if form == "other":
        return SAY.fail(path, line, f"{message} Is that meant?", chain, "medium", "note")
    return SAY.fail(path, line, message, chain, form=form)


def _undecided(form: str, path: str, line: int, name: str) -> Finding:
    if form == "same":
        return SAY.passed(path, line, f"{name} is to have the same")
    return SAY.open(path, line, f"what {name} is to have, or has instead, is not resolved")


def _block(one: Setting) -> Block:
    return one.spot.function.events[one.spot.position].block


def _form(index: Index, lost: Sequence[Setting | Had], one: Setting) -> str:
    """ "" where it is not known that the two differ."""
    found = {difference(index, (each.value, each.spot), (one.value, one.spot)) for each in lost}
    return found.pop() if len(found) == 1 else ""
