"""What a model said is given where the truth is asked for, and the truth where what it said is.

Measures of scikit-learn take the truth first, losses of torch and measures of torchmetrics take it last. Most of them take the two the other
way round without a word: precision becomes recall, an R2 or a report by classes is of something else, a cross-entropy of two classes
drives what the model says to where the labels need it least.

Question to answer: which of the two is the truth?

Fix: exchange them, or name them: y_true=labels, y_pred=predicted.

Cannot see: names that do not tell, as y and x, measures for which the order is all the same (an accuracy, an F1 of two classes), metrics that are
held in an object.

Bad:
    from sklearn.metrics import r2_score

    def evaluate(model, loader):
        for x, targets in loader:
            outputs = model(x)
        return r2_score(outputs.detach().numpy(), targets.numpy())

Bad (a loss):
    import torch.nn.functional as F

    def step(model, optimizer, images, labels):
        logits = model(images)
        loss = F.binary_cross_entropy_with_logits(labels, logits)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Bad (a function of the project that divides by one of them):
    def error_to_signal(target, prediction):
        return (target - prediction).pow(2).mean() / target.pow(2).mean()

    def step(model, optimizer, sound, target):
        prediction = model(sound)
        loss = error_to_signal(prediction, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Good:
    from sklearn.metrics import r2_score

    def evaluate(model, loader):
        for x, targets in loader:
            outputs = model(x)
        return r2_score(targets.numpy(), outputs.detach().numpy())

Good (a function in which the two stand alike):
    def dice(target, prediction):
        return 2 * (target * prediction).sum() / (target.sum() + prediction.sum())

    def evaluate(model, image, mask_target):
        pred = model(image)
        return dice(pred, mask_target)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, External, Function, Index, Site, is_test, loss_calls, spelled, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "swapped-arguments",
    "eval",
    "warning",
    "",
    suspects=("another-loss-fault",),
    claims=("kl-argument-order", "fails-silently"),
    look="print both, and exchange them: does what it gives change?",
    forms={"measure": "a measure of a library", "loss": "a loss of torch", "own": "a function of the project"},
)
_TRUTH_FIRST = (  # of sklearn.metrics, those that give something else the other way round
    "r2_score", "explained_variance_score", "mean_absolute_percentage_error", "d2_absolute_error_score",
    "precision_score", "recall_score", "fbeta_score", "precision_recall_fscore_support", "classification_report", "confusion_matrix",
    "balanced_accuracy_score", "roc_auc_score", "roc_curve", "average_precision_score", "precision_recall_curve", "log_loss",
    "brier_score_loss", "ndcg_score",
)  # fmt: skip
_WEIGHTED = "f1_score"  # the same both ways but for average="weighted"
_TRUTH_LAST = ("BCELoss", "BCEWithLogitsLoss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "KLDivLoss", "kl_div")  # fmt: skip
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_SAID = frozenset([
    "pred", "preds", "prediction", "predictions", "predict", "predicts", "predicted", "output", "outputs", "logit", "logits", "yhat", "hat", "prob", "probs",
])  # fmt: skip
_TRUE = frozenset(["target", "targets", "label", "labels", "gt", "gts", "truth", "true", "trues", "groundtruth"])
_FORMS = ("to", "type", "astype", "view", "reshape", "expand_as", "type_as", "view_as")
_OF_SHAPE = ("shape", "size", "dim", "ndim", "numel", "dtype", "device")  # the same of both
_NAMED = frozenset(("label", "labels"))  # pred_labels are what the model said


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls(*_TRUTH_FIRST, _WEIGHTED):
        if not is_test(site.function.path) and _is_of_sklearn(index, site):
            yield from _examined(site, site.call.last, truth_first=True, form="measure")
    for call in loss_calls(index, *_TRUTH_LAST):
        if call.loss:
            yield from _examined(call.site, call.loss, truth_first=False, form="loss")
    own = {one.name for one in index.functions() if _tells(one) is not None}
    for site in index.calls(*own):
        if not is_test(site.function.path):
            yield from _of_project(index, site)


def _is_of_sklearn(index: Index, site: Site) -> bool:
    symbol = index.resolve(site.function, site.call.callee)
    if not isinstance(symbol, External) or not symbol.name.startswith("sklearn."):
        return False
    average = site.call.keyword("average")
    return site.call.last != _WEIGHTED or (average is not None and average.text == "weighted")


def _examined(site: Site, name: str, truth_first: bool, form: str) -> Iterator[Finding]:
    path, line, given = site.function.path, site.call.line, site.call.arguments[:2]
    first, *others = [_role(part) for part in given] or [None]
    if name.lower().startswith("kl") and given and "log" in written(given[0]):
        yield SAY.passed(path, line, "a divergence the other way round, with a logarithm where one is asked for")
    elif first is None or others != [not first]:
        yield SAY.open(path, line, f"which argument of {name} is the truth is not told by their names")
    elif first is truth_first:
        yield SAY.passed(path, line, f"{name} gets the truth {'first' if truth_first else 'last'}")
    else:
        said = f"{name} takes the truth {'first' if truth_first else 'last'}"
        yield _failure(site, given, said, (), form)


def _failure(site: Site, given: tuple[Expr, ...], said: str, chain: tuple[Link, ...], form: str) -> Finding:
    path, line = site.function.path, site.call.line
    first, second = map(written, given)
    message = f"{written(site.call)} at {path}:{line} gives {first} where {second} is asked for, and {second} where {first} is: {said}. Are they exchanged?"
    return SAY.fail(path, line, message, (*chain, Link(path, line, written(site.call))), "medium", form=form)


def _of_project(index: Index, site: Site) -> Iterator[Finding]:
    """A function that names one of its first two parameters for the truth, and the other for what a model says."""
    function, given = site.function, site.call.arguments[:2]
    called = index.resolve(function, site.call.callee) if site.call.callee else None
    first, *others = [_role(part) for part in given] or [None]
    if not isinstance(called, Function) or called is function or first is None or others != [not first]:
        return
    asked = _tells(called)
    path, line, names = function.path, site.call.line, [one.name for one in called.parameters[:2]]
    if asked is None:
        return
    if asked is first:
        yield SAY.passed(path, line, f"{site.call.callee} gets the truth where it asks for it")
    elif _stand_alike(called, *names):
        yield SAY.passed(path, line, f"in {site.call.callee} the two stand alike")
    else:
        said = f"it is {called.name}({', '.join(names)})"
        yield _failure(site, given, said, (Link(called.path, called.line, said),), "own")


def _tells(function: Function) -> bool | None:
    """Is its first parameter the truth and its second what a model says? None where their names do not tell."""
    first, *others = [_role_of(one.name) for one in function.parameters[:2]] or [None]
    return first if first is not None and others == [not first] else None


def _role(expr: Expr) -> bool | None:
    """By all names in it, and what it is looked up by: batch["labels"].float(), output.squeeze(1) > 0. None of what a network makes of something."""
    parts = list(expr.walk())
    if any(part.kind == "call" and _may_compute(part) for part in parts):
        return None
    return _role_of(" ".join(part.text for part in parts if part.kind in ("path", "attr", "string")))


def _may_compute(call: Expr) -> bool:
    is_plain = all(part.kind in ("number", "unary", "constant", "string") for part in call.arguments)
    return (
        not is_plain and call.last not in _FORMS and call.callee.partition(".")[0] not in ("torch", "F", "np", "numpy")
    )


def _role_of(names: str) -> bool | None:
    """True of names for the truth, False of those for what a model says; None where they do not tell."""
    words = {word.lower() for word in _WORDS.findall(names)}
    is_said, is_true = bool(words & _SAID), bool(words & _TRUE)
    if is_said and is_true:
        return False if words & _TRUE <= _NAMED else None
    return is_true if is_said or is_true else None


def _stand_alike(function: Function, first: str, second: str) -> bool:
    """All that the function does with one of them alone it does with the other."""
    uses: dict[str, list[tuple[object, ...]]] = {first: [], second: []}
    for event in function.events:
        for root in (*event.targets, event.value):
            if root is not None:
                for name, other in ((first, second), (second, first)):
                    uses[name] += _alone(root, name, other)
    return sorted(uses[first], key=repr) == sorted(uses[second], key=repr)


def _alone(expr: Expr, name: str, other: str) -> Iterator[tuple[object, ...]]:
    """The largest parts that hold one name and not the other, spelled with a blank for the name."""
    held = {part.text.partition(".")[0] for part in expr.walk() if part.kind == "path" and part.last not in _OF_SHAPE}
    if name not in held:
        return
    if other in held:
        for part in expr.parts:
            yield from _alone(part, name, other)
    else:
        yield _blanked(spelled(expr), name)


def _blanked(spelling: tuple[object, ...], name: str) -> tuple[object, ...]:
    return tuple(
        _blanked(one, name)
        if isinstance(one, tuple)
        else re.sub(rf"^{re.escape(name)}\b", "_", one)
        if isinstance(one, str)
        else one
        for one in spelling
    )
