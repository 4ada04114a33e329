"""Preprocessing is fitted on data that is held out.

A scaler, a selector or a decomposition that is fitted before the split, or on the test part, knows the mean, the
spread or the labels of the held-out examples. The score is too good, and drops in use; selecting features by the
labels of the test part can make noise look predictive.

Fix: split first; fit on the training part alone, then transform all parts.

Cannot see: statistics computed by hand, splits by a column or a file, pipelines that are not resolved.

Bad:
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    def load(X, y):
        scaler = StandardScaler()
        X = scaler.fit_transform(X)
        return train_test_split(X, y, test_size=0.2)

Bad (fitted on the test part):
    from sklearn.feature_selection import SelectKBest

    def prepare(X_train, y_train, X_test, y_test):
        selector = SelectKBest(k=20)
        X_train = selector.fit_transform(X_train, y_train)
        X_test = selector.fit_transform(X_test, y_test)
        return X_train, X_test

Bad (classes are numbered anew):
    from sklearn.preprocessing import LabelEncoder

    def classes(train_frame, val_frame):
        y_train = LabelEncoder().fit_transform(train_frame["kind"])
        y_val = LabelEncoder().fit_transform(val_frame["kind"])
        return y_train, y_val

Good:
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import LabelEncoder, StandardScaler

    def load(X, labels):
        y = LabelEncoder().fit_transform(labels)
        X_train, X_test, y_train, y_test = train_test_split(X, y)
        scaler = StandardScaler().fit(X_train)
        return scaler.transform(X_train), scaler.transform(X_test), y_train, y_test
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Expr, Index, Instance, Site, Spot, Thing, bound_names, is_test, mentions, written
from trainsleuth.facts.data.splits import counterpart, held_out, is_training_part, split_after
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "fit-before-split",
    "data",
    "warning",
    "",
    suspects=("split-leak",),
    claims=("leakage-is-widespread", "preprocessing-stats-from-train", "select-features-inside-fold"),
    look="split first and fit on the training part alone, then compare the held-out score",
    forms={"": "what is learned of all rows, or of those held out", "codes": "classes or words that are numbered anew"},
)
_FITTED = ("preprocessing", "decomposition", "feature_selection", "feature_extraction", "impute")
_NUMBERING = ("LabelEncoder", "LabelBinarizer", "OneHotEncoder", "OrdinalEncoder", "CountVectorizer", "TfidfVectorizer")
_LEARN_NOTHING = (  # of how the rows are spread: about labels, or about each row alone
    "LabelEncoder",
    "LabelBinarizer",
    "MultiLabelBinarizer",
    "OneHotEncoder",
    "OrdinalEncoder",
    "Normalizer",
    "Binarizer",
    "FunctionTransformer",
    "PolynomialFeatures",
)


_SCALING = ("fit", "transform", "fit_transform")


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("fit", "fit_transform"):
        receiver = site.call.receiver
        if receiver is None or not site.call.arguments or is_test(site.function.path):
            continue
        for thing in index.objects.of(receiver, Spot(site.function, site.position)):
            name = thing.kind.name if isinstance(thing, Instance) else ""
            module = name.split(".")[1] if name.startswith("sklearn.") else ""
            name = name.rpartition(".")[2]
            if module in _FITTED and name in _NUMBERING:
                if not _is_given_the_classes(thing):
                    yield _numbered(site, name)
                break
            if module in _FITTED and name not in _LEARN_NOTHING and not _fills_constant(thing):
                yield _examined(site, name, receiver)
                break


def _numbered(site: Site, name: str) -> Finding:
    """Once more for what is held out: another class, or one that is missing, moves the numbers of all others."""
    path, line, given = site.function.path, site.call.line, _table(site.call.arguments[0])
    if not held_out(given) or not _has_training_part(site, given):
        return SAY.passed(path, line, f"{name} numbers the classes once, as far as can be seen")
    message = (
        f"{written(site.call)} at {path}:{line} numbers the classes or words of what is held out anew: where one is missing there, or new, the numbers "
        "are not those of training. Expected fit on the training part, and transform here: are the classes surely the same?"
    )
    return SAY.fail(path, line, message, (Link(path, line, "numbers them anew"),), "medium", form="codes")


def _is_given_the_classes(thing: Thing) -> bool:
    """OneHotEncoder(categories=kinds), CountVectorizer(vocabulary=words): fit() learns none."""
    call = thing.call if isinstance(thing, Instance) else None
    return call is not None and any(call.keyword(name) is not None for name in ("categories", "vocabulary"))


def _fills_constant(thing: Thing) -> bool:
    """SimpleImputer(strategy="constant")."""
    strategy = thing.call.keyword("strategy") if isinstance(thing, Instance) and thing.call is not None else None
    return strategy is not None and strategy.text == "constant"


def _examined(site: Site, name: str, receiver: Expr) -> Finding:
    path, line, given = site.function.path, site.call.line, site.call.arguments[0]
    if held_out(_table(given)) and _has_training_part(site, _table(given)):
        learns = Link(path, line, f"{written(site.call)} learns from the held-out part")
        message = (
            f"{name} is fitted on {written(given)} at {path}:{line}, which is held out: expected fit on the training part "
            "and transform here."
        )
        return SAY.fail(path, line, message, (learns,), "medium")
    results = set(bound_names(site.event)) if site.call.last == "fit_transform" else set()
    results |= _transformed(site, receiver)
    split = split_after(site, results) if results else None
    if split is None:
        return SAY.passed(path, line, f"what {name} was fitted on is not split afterwards")
    if is_training_part(given):
        return SAY.open(
            path, line, f"{written(given)} is a training part already; what split {split.line} is for is not known"
        )
    if _is_one_example(site, given) or _is_read_by_columns(site, results, split):
        return SAY.passed(path, line, f"{name} is fitted on each example by itself")
    chain = (
        Link(path, line, f"{written(site.call)} learns from all rows"),
        Link(path, split.line, f"{written(split)} splits them"),
    )
    message = (
        f"{name} is fitted on all of {written(given)} at {path}:{line}, before {split.last}() at {path}:{split.line} takes "
        "the held-out part away: expected the split first, and fit on the training part alone."
    )
    return SAY.fail(path, line, message, chain)


def _table(expr: Expr) -> Expr:
    """The whole of test["kind"], test[columns].values, test.kind.to_numpy()."""
    while not held_out(expr):
        inner = expr.parts[0] if expr.kind in ("index", "attr") else expr.receiver
        if inner is None:
            break
        expr = inner
    return expr


def _has_training_part(site: Site, given: Expr) -> bool:
    """The function fits or transforms the training part of the same thing too: what is held out is held out from it."""
    calls = (call for event in site.function.events for call in event.calls if call.last in _SCALING)
    names = [part.text for call in calls for root in call.parts[1:] for part in root.walk() if part.kind == "path"]
    return counterpart(given, [word for name in names for word in name.split(".")])


def _is_one_example(site: Site, given: Expr) -> bool:
    """It goes over a loop or comprehension, or the axes are swapped: columns of it are rows of the data."""
    if any(part.last in ("T", "t", "transpose") for part in given.walk()):
        return True
    loops = [site.function.loops[place].target for place in site.event.block.loops]
    clauses = (part for part in site.event.value.walk() if part.kind == "for") if site.event.value is not None else ()
    targets = [target for target in (*loops, *(clause.parts[0] for clause in clauses)) if target is not None]
    return mentions(given, [part.text for target in targets for part in target.walk() if part.kind == "path"])


def _is_read_by_columns(site: Site, names: set[str], split: Expr) -> bool:
    """Before the split each round of a loop, or of a comprehension, takes a column of it: scaled[:, i] is one example."""
    for event in site.function.events[site.position + 1 :]:
        if split in event.calls:
            return False
        targets = [site.function.loops[place].target for place in event.block.loops]
        parts = list(event.value.walk()) if event.value is not None else []
        targets += [part.parts[0] for part in parts if part.kind == "for"]
        each = [part.text for target in targets if target is not None for part in target.walk() if part.kind == "path"]
        for part in parts:
            if part.kind == "index" and len(part.parts) == 3 and part.parts[0].text in names:
                if part.parts[1].kind == "slice" and not part.parts[1].parts and mentions(part.parts[2], each):
                    return True
    return False


def _transformed(site: Site, receiver: Expr) -> set[str]:
    """Names that hold what the fitted object made of the same data: scaler.fit(X); X = scaler.transform(X)."""
    given = site.call.arguments[0]
    found: set[str] = set()
    for event in site.function.events[site.position + 1 :]:
        for call in event.calls:
            own = call.receiver
            if call.last == "transform" and own is not None and own.text == receiver.text and call.arguments:
                if call.arguments[0].kind == given.kind and written(call.arguments[0]) == written(given):
                    found |= set(bound_names(event))
    return found
