"""Whether more of a score is better, as its name says: an accuracy is to rise, a loss is to fall."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..records import Expr
from ..tracing.making import makers
from ..tracing.things import Spot
from ..words import words

if TYPE_CHECKING:
    from ..index import Index

_RISES = words(
    "acc accs acc1 acc5 accuracy accuracies ap ap50 auc aupr auprc auroc bleu bleu4 cider dice dsc f1 f2 fbeta fscore hits "
    "iou jaccard jaccardindex kappa map map50 mcc meteor miou mrr ndcg pearson prec prec1 prec5 precision psnr qwk r2 recall "
    "reward rewards rocauc rouge rougel spearman ssim top1 top5"
)
_FALLS = words(
    "bpc bpd cer cost eer epe err error errors fid loss losses lpips mae mape mpjpe mse nll perplexity ppl regret rmse wer"
)
_NEITHER = words("change delta diff difference drop gap margin std sum var variance")
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"[A-Z]?[a-z]+\d*|[A-Z]+(?![a-z])\d*|\d+")
_SHOWN = words("abs array asarray average avg compute cpu detach float get item map mean numpy result round sum tolist")


def rises(name: str) -> bool | None:
    """True for val_acc and AUC, False for test_loss, None where no word tells, or what is compared is a difference. A loss that
    is named after a score (dice_loss) is a loss.
    """
    found = _WORD.findall(name)
    told = [one for word in found if (one := _told(word)) is not None]
    if not told or (told[-1] and not all(told)) or not _NEITHER.isdisjoint(map(str.lower, found)):
        return None
    return all(told)


def _told(word: str) -> bool | None:
    parts = {word.lower(), *(hump.lower() for hump in _HUMP.findall(word))}
    if not parts.isdisjoint(_FALLS):
        return False
    return None if parts.isdisjoint(_RISES) else True


def is_to_rise(index: Index, score: Expr, spot: Spot) -> bool | None:
    """The same of an expression: by its own words, where what it was made of does not say the contrary, else by those."""
    own = _of(score)
    behind = {
        told for made, at in makers(index, score, spot, 2) for told in _behind(index, made, at, made is not score)
    }
    if own is None:
        return behind.pop() if len(behind) == 1 else None
    return own if behind <= {own} else None


def _behind(index: Index, made: Expr, at: Spot, is_another: bool) -> Iterator[bool]:
    """What an expression says, and what is given back by the functions of the project that it calls."""
    given = [made] if is_another else []
    for call in made.walk():
        for target in index.calling.run_by(call, at) if call.kind == "call" else ():
            given += [one.value for one in target.function.events if one.kind == "return" and one.value is not None]
    yield from (told for one in given if (told := _of(one)) is not None)


def _of(expr: Expr) -> bool | None:
    """100 * (1 - acc) is to fall."""
    kind, parts = expr.kind, expr.parts
    if kind in ("path", "attr"):
        last = rises(expr.last)
        owner = expr.receiver
        return last if last is not None or owner is None else _of(owner)
    if kind == "index":
        told = [found for part in parts[1:] if part.kind == "string" and (found := rises(part.text)) is not None]
        return told[0] if told else _of(parts[0])
    if kind == "call":
        return _of_call(expr)
    if kind == "unary" and expr.text == "-":
        return _contrary(_of(parts[0]))
    if kind == "binary" and len(parts) == 2:
        return _of_operation(expr)
    return None


def _of_call(call: Expr) -> bool | None:
    """accuracy(model, data), float(acc), acc.item(), logs.get("acc")."""
    if call.last not in _SHOWN:
        return rises(call.last)
    inner = [
        found
        for part in call.arguments
        if (found := rises(part.text) if part.kind == "string" else _of(part)) is not None
    ]
    receiver = call.receiver
    if inner:
        return inner[0]
    return _of(receiver) if receiver is not None else None


def _of_operation(expr: Expr) -> bool | None:
    left, right = expr.parts
    if expr.text == "-":
        return _contrary(_of(right)) if left.kind == "number" else None
    if expr.text == "/":
        return _of(left) if left.kind != "number" else None
    if expr.text == "*":
        numbers = [part for part in expr.parts if part.kind == "number"]
        return _of(right if left in numbers else left) if len(numbers) == 1 else None
    return None


def _contrary(told: bool | None) -> bool | None:
    return None if told is None else not told
