"""Pictures of a test or validation set are altered by chance.

A transform with RandomCrop, RandomHorizontalFlip or ColorJitter is for training: it shows each picture in another way every
time. Given to the set that the model is judged on, it makes the score lower and noisy: two evaluations of one model differ, and
the best epoch is the one that was lucky.

Fix: a transform of its own for evaluation, with Resize, CenterCrop and the same normalisation.

Cannot see: transforms and parts of the data that a setting chooses, transforms inside of a data set. Averages over several
altered copies of a picture (test-time augmentation) are meant.

Bad:
    from torch.utils.data import DataLoader
    from torchvision import datasets, transforms

    transform = transforms.Compose([
        transforms.RandomCrop(32, padding=4), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
    ])
    train_set = datasets.CIFAR10("data", train=True, transform=transform)
    test_set = datasets.CIFAR10("data", train=False, transform=transform)
    train_loader = DataLoader(train_set, 128, shuffle=True)
    test_loader = DataLoader(test_set, 128)

Bad (a switch of the data set that is on unless it is put off):
    import numpy as np
    from torch.utils.data import DataLoader, Dataset

    class Clouds(Dataset):
        def __init__(self, points, split="train", augment=True):
            self.points, self.augment = points[split], augment

        def __len__(self):
            return len(self.points)

        def __getitem__(self, i):
            points = self.points[i]
            if self.augment:
                points = points + np.random.normal(0, 0.02, size=points.shape)
            return points

    def loaders(points):
        train_set = Clouds(points)
        val_set = Clouds(points, split="val", augment=False)
        test_set = Clouds(points, split="test")
        return [DataLoader(one, 64, shuffle=one is train_set) for one in (train_set, val_set, test_set)]

Good:
    from torch.utils.data import DataLoader
    from torchvision import datasets, transforms

    augment = transforms.Compose([
        transforms.RandomCrop(32, padding=4), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
    ])
    train_set = datasets.CIFAR10("data", train=True, transform=augment)
    test_set = datasets.CIFAR10("data", train=False, transform=transforms.ToTensor())
    train_loader = DataLoader(train_set, 128, shuffle=True)
    test_loader = DataLoader(test_set, 128)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    Class,
    Event,
    Expr,
    Function,
    Index,
    Spot,
    constant,
    external_name,
    is_test,
    makers,
    written,
)
from trainsleuth.finding import Finding, Link

from ._augmenting import draws
from ._on_by_default import Left, left_on
from ._verdicts import Verdicts

SAY = Verdicts(
    "augmented-evaluation",
    "data",
    "warning",
    "",
    suspects=("augmentation",),
    claims=("altered-evaluation-misleads",),
    look="evaluate the same weights twice: the two scores should be equal to the last digit",
    sure=("",),
)
_MADE = re.compile(rb"[Tt]ransform|Compose")
_NAMES = ("transform", "transforms")
_COMPOSING = ("Compose", "Sequential")
_OF_TABLES = frozenset(["dict"])  # settings are made of it, and no data set
_PARTS = ("split", "mode", "phase", "partition", "subset", "image_set", "data_split", "set", "part")
_JUDGED = re.compile(r"test|testing|val|valid|validation|eval|evaluation|dev", re.I)
_FOLDER = re.compile(r"(?:^|/)(?:test|testing|val|valid|validation|eval)(?:_?(?:set|data|images|imgs))?/?$", re.I)
_DATA = re.compile(r"data|set$|folder|images|pictures|cifar|mnist|svhn|voc|coco|stl10", re.I)
_SET = re.compile(r"(?:test|testing|val|valid|validation|eval)_?(?:data)?_?(?:set)?", re.I)
_RAW = ("data", "targets", "imgs", "samples")
_ON_PURPOSE = re.compile(r"tta|rand|chance|corrupt|perturb|robust|attack|adv|ood|outl", re.I)
_OTHER = re.compile(rf"train|aug|unlab|pool|source|target|calib|{_ON_PURPOSE.pattern}", re.I)


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_MADE):
        if is_test(function.path) or function.called <= _OF_TABLES:
            continue
        for position, event in enumerate(function.events):
            spot = Spot(function, position)
            for call in event.calls:
                if _may_be(call) and (said := _judged(index, call, spot)) and _is_data_set(index, call, spot):
                    yield from (_examined(index, spot, call, given, said) for given in _transforms(index, call, spot))
            yield from (_examined(index, spot, None, given, key) for given, key in _of_tables(event))
    for left in left_on(index):
        spot = Spot(left.site.function, left.site.position)
        if said := _judged(index, left.site.call, spot) or _called_so(left.site.event):
            yield _left(index, spot, left, said)


def _may_be(call: Expr) -> bool:
    """As far as its words tell: most calls make no data set."""
    name = call.last
    return bool(_DATA.search(name)) or (
        name not in _OF_TABLES and any(part.kind == "keyword" and part.text in _NAMES for part in call.parts)
    )


def _transforms(index: Index, call: Expr, spot: Spot) -> Iterator[Expr]:
    """What it is given as a transform: by name, or in a place behind the folder."""
    named = next((one for name in _NAMES if (one := call.keyword(name)) is not None), None)
    if named is not None:
        yield named
    else:
        yield from [one for one in call.arguments[1:] if draws(index, one, spot) is not None][:1]


def _of_tables(event: Event) -> Iterator[tuple[Expr, str]]:
    """{"train": Compose(...), "val": Compose(...)}: those of what a model is judged on."""
    for table in event.value.walk() if event.kind == "assign" and event.value is not None else ():
        if table.kind != "dict":
            continue
        pairs = [one.parts for one in table.parts if one.kind == "pair"]
        keyed = {key.text: value for key, value in pairs if key.kind == "string" and value.last in _COMPOSING}
        if any(key.lower().startswith("train") for key in keyed):
            yield from ((value, f'"{key}"') for key, value in keyed.items() if _JUDGED.fullmatch(key))


def _judged(index: Index, call: Expr, spot: Spot) -> str:
    """What says that the data set is one that a model is judged on: train=False, split="val", a folder called test."""
    train = call.keyword("train")
    if train is not None and train.text == "False":
        return "train=False"
    for part in call.parts[1:]:
        told = constant(index, part.parts[0], spot) if part.kind == "keyword" and part.text in _PARTS else None
        if told is not None and told.kind == "string" and _JUDGED.fullmatch(told.text):
            return written(part)
    folder = call.argument(0, "root")
    made = [one for one, _ in makers(index, folder, spot)] if folder is not None else []
    is_judged = bool(made) and all(_ends_in_folder(one) for one in made)
    return written(made[0]) if is_judged else ""


def _ends_in_folder(expr: Expr) -> bool:
    """os.path.join(root, "val"), root + "/test": the last text in it."""
    texts = [one for one in expr.walk() if one.kind == "string"]
    return bool(texts) and _FOLDER.search(texts[-1].text) is not None


def _is_data_set(index: Index, call: Expr, spot: Spot) -> bool:
    """Of torchvision, a class of the project that gives examples by number, or called like one."""
    return bool(_DATA.search(call.last)) or any(
        index.method(thing, "__getitem__") is not None
        if isinstance(thing, Class)
        else external_name(thing).startswith("torchvision.datasets")
        for thing in index.objects.of(call.parts[0], spot)
    )


def _called_so(event: Event) -> str:
    """test_set = ..."""
    target = event.targets[0] if event.kind == "assign" and len(event.targets) == 1 else None
    return f"{target.last} = ..." if target is not None and _SET.fullmatch(target.last) else ""


def _reads_raw(index: Index, event: Event, function: Function) -> bool:
    """self.test_set.data: the pictures as they are stored, which no transform meets."""
    names = {target.last for target in event.targets if target.kind == "path"}
    cls = index.class_of(function)
    functions = tuple(cls.methods.values()) if cls is not None else (function,)
    values = (one.value for each in functions for one in each.events if one.value is not None)
    return any(
        part.kind == "path" and part.last in _RAW and part.text.rpartition(".")[0].rpartition(".")[2] in names
        for value in values
        for part in value.walk()
    )


def _examined(index: Index, spot: Spot, call: Expr | None, given: Expr, said: str) -> Finding:
    """`call` makes the data set; None for a transform that a table keeps for one."""
    event, path, line = spot.function.events[spot.position], spot.function.path, (call or given).line
    if _ON_PURPOSE.search(spot.function.name) or any(map(_OTHER.search, _names(event))):
        return SAY.open(
            path, line, "names around it say that no model may be judged on it, or that it is altered on purpose"
        )
    if call is not None and _reads_raw(index, event, spot.function):
        return SAY.open(path, line, "its pictures are read as they are stored")
    drawn = draws(index, given, spot)
    if drawn is None:
        return SAY.open(path, line, f"whether {written(given)} alters pictures by chance is not resolved")
    if not drawn:
        return SAY.passed(path, line, f"{written(given)} does the same to a picture each time")
    what = f"{written(call.parts[0])} at {path}:{line} is a set" if call is not None else f"{path}:{line} is for a set"
    chain = (Link(path, given.line, f"{written(given)} draws"), Link(path, line, f"{said}: what a model is judged on"))
    message = (
        f"{what} that a model is judged on ({said}), and {written(given)} alters its pictures by chance: the score is lower, and another one "
        "each time; expected a transform that does the same to a picture each time."
    )
    return SAY.fail(path, line, message, chain)


def _left(index: Index, spot: Spot, left: Left, said: str) -> Finding:
    """The data set is not told to leave its examples as they are."""
    call, other, path = left.site.call, left.other, spot.function.path
    if _ON_PURPOSE.search(spot.function.name) or any(map(_OTHER.search, _names(left.site.event))):
        return SAY.open(
            path, call.line, "names around it say that it is altered on purpose, or no model is judged on it"
        )
    if _reads_raw(index, left.site.event, spot.function):
        return SAY.open(path, call.line, "its pictures are read as they are stored")
    chain = (
        Link(left.drawn_in.path, left.draw.line, f"{written(left.draw)} alters an example, if {left.name} is true"),
        Link(path, call.line, f"{said}: what a model is judged on; {left.name} stays True"),
        Link(other.function.path, other.call.line, f"{left.name}=False is given here"),
    )
    message = (
        f"{written(call.parts[0])} at {path}:{call.line} is a set that a model is judged on ({said}), and {left.name} is left at True, so "
        f"its examples are altered by chance: is {left.name}=False missing, as at {other.function.path}:{other.call.line}?"
    )
    return SAY.fail(path, call.line, message, chain, "medium", "note")


def _names(event: Event) -> Iterator[str]:
    """What the data set goes by: variables, and lists that it is appended to."""
    for target in event.targets:
        yield from (part.text for part in target.walk() if part.kind in ("path", "string"))
    for call in event.calls:
        if call.last in ("append", "extend", "add") and call.receiver is not None:
            yield call.receiver.text
