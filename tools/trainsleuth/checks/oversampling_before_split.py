"""Examples are multiplied before the split, so copies end up on both sides.

Over-sampling repeats rare examples, or invents ones between neighbours. Done before the data are split, the
held-out part contains copies of training examples: the model has seen the answers, and the score of the rare
class is far too good.

Fix: split first, over-sample the training part alone.

Cannot see: copies made by hand, splits by a column or in another function.

Bad:
    from imblearn.over_sampling import SMOTE
    from sklearn.model_selection import train_test_split

    def load(X, y):
        X, y = SMOTE().fit_resample(X, y)
        return train_test_split(X, y, test_size=0.2)

Bad (rare rows are repeated):
    import pandas as pd
    from sklearn.model_selection import train_test_split
    from sklearn.utils import resample

    def load(frame):
        common = frame[frame.label == 0]
        rare = resample(frame[frame.label == 1], replace=True, n_samples=len(common))
        balanced = pd.concat([common, rare])
        train, test = train_test_split(balanced, test_size=0.2)
        return train, test

Good:
    from imblearn.over_sampling import RandomOverSampler
    from sklearn.model_selection import train_test_split

    def load(X, y):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2)
        X_train, y_train = RandomOverSampler().fit_resample(X_train, y_train)
        return X_train, X_test, y_train, y_test
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import External, Index, Site, Spot, bound_names, called, is_test, written
from trainsleuth.facts.data.splits import split_after
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "oversampling-before-split",
    "data",
    "error",
    "",
    suspects=("split-leak",),
    claims=("augment-after-split", "leakage-is-widespread"),
    look="count rows of the held-out part that also stand in the training part",
)


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("fit_resample", "fit_sample", "resample"):
        if not is_test(site.function.path) and _multiplies(index, site):
            yield _examined(site)


def _multiplies(index: Index, site: Site) -> bool:
    spot = Spot(site.function, site.position)
    if site.call.last == "resample":
        symbol = index.resolve(site.function, site.call.callee) if site.call.callee else None
        replaces = site.call.keyword("replace")
        is_own = isinstance(symbol, External) and symbol.name.startswith("sklearn.")
        return is_own and (replaces is None or replaces.text != "False")
    return any(part in called(index, site.call, spot) for part in ("over_sampling", "imblearn.combine"))


def _examined(site: Site) -> Finding:
    path, line = site.function.path, site.call.line
    split = split_after(site, list(bound_names(site.event)))
    if split is None:
        return SAY.passed(path, line, f"what {site.call.last}() gives is not split afterwards")
    chain = (
        Link(path, line, f"{written(site.call)} multiplies examples"),
        Link(path, split.line, f"{written(split)} puts copies on both sides"),
    )
    message = (
        f"{written(site.call)} at {path}:{line} multiplies examples before {split.last}() at {path}:{split.line}, so the "
        "held-out part has copies of training examples: expected the split first."
    )
    return SAY.fail(path, line, message, chain)
