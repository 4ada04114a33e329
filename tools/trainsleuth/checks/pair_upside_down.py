"""A formula that sets two things against each other has them the wrong way round.

exp(old_log_prob - log_prob) is the ratio of PPO upside down, -logsigmoid(neg - pos) ranks what nobody chose above what was chosen, TripletMarginLoss takes
(anchor, positive, negative) in this order, mixup weighs the first labels with lam as it does the first pictures, and the factor of the focal loss
is (1 - p) ** gamma. What an update keeps of the old value and takes of the new one, by a mask or a decay, adds up to one:
new * mask + old * (1 - mask). Each is a plausible number that moves the right way for a while, and the model learns the contrary.

Fix: the order of the formula.

Cannot see: names that do not say which is which; distances in place of scores, for which the order of a ranking is the other one.

Bad:
    import torch

    def policy_loss(log_prob, old_log_prob, advantage, clip=0.2):
        ratio = torch.exp(old_log_prob - log_prob)
        return -torch.min(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage).mean()

Bad (a ranking):
    import torch.nn.functional as F

    def bpr(pos_scores, neg_scores):
        return -F.logsigmoid(neg_scores - pos_scores).mean()

Good:
    import torch

    def policy_loss(log_prob, old_log_prob, advantage, clip=0.2):
        ratio = torch.exp(log_prob - old_log_prob)
        return -torch.min(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage).mean()

Good (a ranking):
    import torch.nn.functional as F

    def bpr(pos_scores, neg_scores):
        return -F.logsigmoid(pos_scores - neg_scores).mean()
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function, Index, bindings, is_test, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "pair-upside-down",
    "loss",
    "error",
    "",
    suspects=("another-loss-fault",),
    claims=("adaptive-parts-mask-bugs",),
    look="read the formula in the paper, and say which of the two is to be the larger",
    forms={
        "ratio": "the ratio of a policy",
        "ranking": "positive and negative examples in a ranking",
        "triplet": "the order of a triplet",
        "mixture": "the weights of mixed labels",
        "focus": "the factor of a focal loss",
        "blend": "what an update keeps and takes",
    },
)
_RATIO = re.compile(rb"exp\([^\n]*old|old[^\n]*\)\.exp\(")
_RANKING = re.compile(rb"sigmoid\(|softplus\(")
_TRIPLET = re.compile(rb"[tT]riplet")
_MIXTURE = re.compile(rb"lam(?:bda_?)?[ \t]*\*")
_FOCUS = re.compile(rb"\*\* ?(?:self\.)?gamma")
_RESTS = re.compile(rb"\(1(?:\.0?)? ?- ?[\w.]+\)(?: ?\*\*|\.pow\()")  # the other half stands beside it
_IS_OLD = re.compile(r"(?:^|_)(?:old|behaviou?r|prev)(?:_|$)|^old", re.IGNORECASE)
_IS_OTHER = re.compile(r"sampl|rollout|behav|ref|gener|infer|actor|neg|nll|vllm|proposal", re.IGNORECASE)
_IS_LOG = re.compile(r"log|lp|prob|pi", re.IGNORECASE)
_IS_POSITIVE = re.compile(r"(?:^|_)(?:pos|positive|positives|chosen|preferred|winner)(?:_|$)|^pos", re.IGNORECASE)
_IS_NEGATIVE = re.compile(r"(?:^|_)(?:neg|negative|negatives|rejected|dispreferred|loser)(?:_|$)|^neg", re.IGNORECASE)
_IS_DISTANCE = re.compile(r"dist|energy|cost|error|loss|nll|ppl|d_|_d$", re.IGNORECASE)
_DISTANCES = (
    "norm",
    "square",
    "pow",
    "abs",
    "cdist",
    "pairwise_distance",
    "l1_loss",
    "mse_loss",
    "cross_entropy",
    "nll_loss",
)
_FIRST, _SECOND = re.compile(r"_a$|_1$|^(?:y|target|label)s?a$"), re.compile(r"_b$|_2$|^(?:y|target|label)s?b$")
_IS_SHARE = re.compile(r"^(?:lam|lambda_?|lmbda|lamb)$")
_BLEND = re.compile(
    b"|".join(
        rb"%s\w*[^\n+]*\+[^\n]*%s" % (word, word)
        for word in (b"mask", b"decay", b"alpha", b"tau", b"momentum", b"gate")
    )
)
_IS_PART = re.compile(r"(?:^|_)(?:mask|masks|decay|alpha|tau|momentum|gate)(?:_|$)")


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_RATIO, _RANKING, _TRIPLET, _MIXTURE, _FOCUS, _BLEND):
        if not is_test(function.path):
            blends = function.source.holds(_BLEND)
            weighs = function.source.holds(_MIXTURE) or function.source.holds(_FOCUS)
            for event in function.events:
                yield from _of_calls(function, event)
                if blends and (blend := _blend(event)) is not None and event.value is not None:
                    yield _examined(function, event.value, "blend", *blend)
                if weighs and event.value is not None:
                    yield from _of_products(function, event.value)


def _of_calls(function: Function, event: Event) -> Iterator[Finding]:
    for call in event.calls:
        for form, found in (
            ("ratio", _ratio(event, call)),
            ("ranking", _ranking(function, event, call)),
            ("triplet", _triplet(call)),
        ):
            if found is not None:
                yield _examined(function, call, form, *found)


def _of_products(function: Function, value: Expr) -> Iterator[Finding]:
    for part in value.walk():
        if part.kind == "binary":
            for form, found in (("mixture", _mixture(part)), ("focus", _focus(function, part))):
                if found is not None:
                    yield _examined(function, part, form, *found)


def _examined(function: Function, part: Expr, form: str, is_right: bool, what: str) -> Finding:
    path, line = function.path, part.line
    if is_right:
        return SAY.passed(path, line, f"{written(part)} is the right way round")
    message = f"{written(part)} at {path}:{line} has {what}."
    return SAY.fail(path, line, message, (Link(path, line, written(part)),), "medium", form=form)


def _difference(expr: Expr | None) -> tuple[Expr, Expr] | None:
    if expr is None or expr.kind != "binary" or expr.text != "-" or len(expr.parts) != 2:
        return None
    return expr.parts[0], expr.parts[1]


def _less_than_one(expr: Expr) -> Expr | None:
    """x of 1 - x."""
    pair = _difference(expr)
    return pair[1] if pair is not None and pair[0].text in ("1", "1.0", "1.") else None


def _given(call: Expr) -> Expr | None:
    """torch.exp(x), F.logsigmoid(x) and x.exp()."""
    receiver = call.receiver
    if receiver is not None and receiver.kind != "path":
        return receiver
    return call.argument(0, "input") if call.arguments else None


def _named(expr: Expr) -> str:
    """All names in an expression, for what they say of it."""
    return " ".join(part.text.replace(".", " ") for part in expr.walk() if part.kind in ("path", "attr", "string"))


def _is(words: re.Pattern[str], expr: Expr) -> bool:
    return any(words.search(word) for word in _named(expr).split())


def _ratio(event: Event, call: Expr) -> tuple[bool, str] | None:
    """exp(log_prob - old_log_prob). Not where the other one is that of a sampler or a reference, nor in exp(d) - d - 1, which estimates a divergence."""
    pair = _difference(_given(call)) if call.last == "exp" else None
    if pair is None or _is(_IS_OLD, pair[0]) is _is(_IS_OLD, pair[1]) or not all(_is(_IS_LOG, one) for one in pair):
        return None
    is_estimate = event.value is not None and any(
        part.text in ("1", "1.0") for one in event.value.walk() if one.kind == "binary" for part in one.parts
    )
    if is_estimate or any(_is(_IS_OTHER, one) for one in pair):
        return None
    return (
        _is(_IS_OLD, pair[1]),
        "the old policy above the new one, so that the ratio is upside down; expected the new one less the old one",
    )


def _ranking(function: Function, event: Event, call: Expr) -> tuple[bool, str] | None:
    """-logsigmoid(pos - neg), -log(sigmoid(pos - neg)), softplus(neg - pos)."""
    if call.last not in ("logsigmoid", "sigmoid", "softplus") or event.value is None:
        return None
    pair = _difference(_given(call))
    sides = None if pair is None else [(_is(_IS_POSITIVE, one), _is(_IS_NEGATIVE, one)) for one in pair]
    if pair is None or sides not in ([(True, False), (False, True)], [(False, True), (True, False)]):
        return None
    if any(_is(_IS_DISTANCE, one) or _is_made_of_distance(function, one) for one in pair) or not _is_minimised(
        event.value, call
    ):
        return None
    others = [_difference(_given(one)) for one in event.calls if one is not call and one.last == call.last]
    if any(one is not None and _is(_IS_POSITIVE, one[0]) is not _is(_IS_POSITIVE, pair[0]) for one in others):
        return None  # both ways, as with labels that are smoothed
    is_rising = sides[0][0] is (call.last != "softplus")
    return (
        is_rising,
        "the negative examples where the positive ones belong, so that they are ranked higher; expected the positive ones less the negative ones",
    )


def _is_made_of_distance(function: Function, expr: Expr) -> bool:
    """pos_score = (head + relation - tail).norm(): then less is better."""
    made = [one.value for one in bindings(function).get(expr.text, ()) if one.value is not None]
    return any(part.last in _DISTANCES or part.text == "**" for one in made for part in one.walk())


def _is_minimised(value: Expr, call: Expr) -> bool:
    """With one minus in front of a logarithm, or as it is where it is a softplus; not where 1 - sigmoid is taken."""
    holders = [one for one in value.walk() if one is not call and any(part is call for part in one.walk())]
    signs = sum(one.kind == "unary" and one.text == "-" for one in holders)
    is_odd = any(one.kind == "binary" and one.text == "-" for one in holders[-3:])
    if call.last == "softplus":
        return not signs and not is_odd
    has_log = call.last == "logsigmoid" or any(one.kind == "call" and one.last == "log" for one in holders)
    return signs == 1 and has_log and not is_odd


def _triplet(call: Expr) -> tuple[bool, str] | None:
    """triplet_loss(anchor, positive, negative)."""
    if "triplet" not in call.last.lower() or len(call.arguments) < 3:
        return None
    second, third = call.arguments[1:3]
    if "mask" in _named(call):
        return None
    sides = (_is(_IS_POSITIVE, second), _is(_IS_NEGATIVE, second), _is(_IS_POSITIVE, third), _is(_IS_NEGATIVE, third))
    if sides not in ((True, False, False, True), (False, True, True, False)):
        return None
    return sides[0], "the negative example before the positive one; torch takes anchor, positive, negative"


def _mixture(part: Expr) -> tuple[bool, str] | None:
    """lam * loss(out, y_a) + (1 - lam) * loss(out, y_b)."""
    if part.text != "+" or len(part.parts) != 2:
        return None
    first, second = (_weighed(one) for one in part.parts)
    if first is None or second is None or first[0] is second[0]:
        return None
    plain, rest = (first[1], second[1]) if first[0] else (second[1], first[1])
    sides = [(_last_is(_FIRST, one), _last_is(_SECOND, one)) for one in (plain, rest)]
    if sides not in ([(True, False), (False, True)], [(False, True), (True, False)]):
        return None
    return (
        sides[0][0],
        "the weight of the first labels before the second ones; expected lam before the first and 1 - lam before the second",
    )


def _blend(event: Event) -> tuple[bool, str] | None:
    """old = new * mask + old * (1 - mask)"""
    value = event.value
    if event.kind != "assign" or len(event.targets) != 1 or value is None or value.text != "+" or len(value.parts) != 2:
        return None
    first, second = (_shared(one) for one in value.parts)
    if first is None or second is None or first[1] != second[1] or (first[0], second[0]) == (False, False):
        return None
    things = {first[2], second[2]}
    if len(things) != 2 or event.targets[0].text not in things:
        return None
    what = f"{first[1]} before the old value and before the new one; expected 1 - {first[1]} before one of them"
    return first[0] is not second[0], what


def _shared(expr: Expr) -> tuple[bool, str, str] | None:
    """(is it the mask and not 1 - mask, the mask, the name of what it is multiplied with) of a product."""
    if expr.kind != "binary" or expr.text != "*" or len(expr.parts) != 2:
        return None
    for share, thing in (expr.parts, expr.parts[::-1]):
        rest = _less_than_one(share)
        held = share if rest is None else rest
        if held.kind == "path" and _IS_PART.search(held.last) and thing.kind == "path":
            return rest is None, held.text, thing.text
    return None


def _weighed(expr: Expr) -> tuple[bool, Expr] | None:
    """(is it lam and not 1 - lam, the loss) of a product of the two."""
    if expr.kind != "binary" or expr.text != "*" or len(expr.parts) != 2:
        return None
    for share, loss in (expr.parts, expr.parts[::-1]):
        if share.kind == "path" and _IS_SHARE.match(share.last) and loss.kind == "call" and len(loss.arguments) > 1:
            return True, loss.arguments[1]
        rest = _less_than_one(share)
        if rest is not None and rest.kind == "path" and _IS_SHARE.match(rest.last):
            return (False, loss.arguments[1]) if loss.kind == "call" and len(loss.arguments) > 1 else None
    return None


def _last_is(words: re.Pattern[str], expr: Expr) -> bool:
    return expr.kind == "path" and bool(words.search(expr.last))


def _is_rest(function: Function, base: Expr) -> bool:
    """pt = 1 - p, or of a negated logit: the name says another thing than the paper."""
    made = [one.value for one in bindings(function).get(base.text, ()) if one.value is not None]
    plain = (one for one in made if all(inner.last != "exp" for inner in one.walk()))  # exp(-ce) is the probability
    return any(part.kind == "unary" or _less_than_one(part) is not None for one in plain for part in one.walk())


def _focus(function: Function, part: Expr) -> tuple[bool, str] | None:
    """(1 - pt) ** gamma, in what is called a focal loss."""
    if (
        part.text != "**"
        or "focal" not in function.qualname.lower()
        or not part.parts[1].last.lower().endswith("gamma")
    ):
        return None
    base = part.parts[0]
    if base.kind == "path" and (_is_rest(function, base) or function.source.holds(_RESTS)):
        return None
    if _less_than_one(base) is not None:
        return True, ""
    is_probability = base.kind == "path" and re.fullmatch(r"p_?t|probs?_?t?|p", base.last, re.IGNORECASE)
    return (
        (False, "the probability itself as its base, so that easy examples count most; expected 1 less the probability")
        if is_probability
        else None
    )
