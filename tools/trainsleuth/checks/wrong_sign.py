"""A known formula stands in the loss with the wrong sign.

Training minimises. The divergence of a variational autoencoder must be added, an entropy bonus and a
log-likelihood must be taken away, and a soft value is Q - alpha * log pi. With the sign turned everything runs, and the optimizer drives the wrong
way: the code collapses or explodes, the policy loses its exploration, the likelihood falls.

Fix: loss = reconstruction + KL with KL = -0.5 * (1 + logvar - mu^2 - exp(logvar)); loss = policy - c * entropy;
loss = -(log_prob * advantage).

Cannot see: weights that are negative at run time, formulas written in another way, losses that are not
resolved down to the formula.

Bad:
    import torch
    import torch.nn.functional as F

    def loss_of(decoded, x, mu, logvar):
        kld = 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        return F.mse_loss(decoded, x, reduction="sum") + kld

    def step(vae, x, optimizer):
        loss = loss_of(*vae(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Bad (the entropy is punished):
    def update(policy, states, actions, advantages, optimizer, c=0.01):
        dist = policy(states)
        policy_loss = -(dist.log_prob(actions) * advantages).mean()
        loss = policy_loss + c * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Bad (soft actor-critic):
    import torch

    def target(q1, q2, states, rewards, policy, alpha, gamma):
        with torch.no_grad():
            actions, log_pi = policy(states)
            least = torch.min(q1(states, actions), q2(states, actions)) + alpha * log_pi
            return rewards + gamma * least

Good:
    import torch
    import torch.nn.functional as F

    def loss_of(decoded, x, mu, logvar):
        kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        return F.mse_loss(decoded, x, reduction="sum") + kld

    def step(vae, x, optimizer):
        loss = loss_of(*vae(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Good (soft actor-critic adds the log-probability on purpose; the bonus is taken away):
    def update(policy, q, states, actions, advantages, optimizer, alpha=0.2, c=0.01):
        dist = policy(states)
        fresh = dist.rsample()
        soft = (alpha * dist.log_prob(fresh) - q(states, fresh)).mean()
        plain = -(dist.log_prob(actions) * advantages).mean()
        entropy_loss = -dist.entropy().mean()
        loss = soft + plain + c * entropy_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    Event,
    Expr,
    Function,
    Index,
    Spot,
    Term,
    factors,
    is_test,
    number_sign,
    terms,
    trained_losses,
    written,
)
from trainsleuth.finding import Finding, Link

from ._divergence import divergences
from ._policy import NEGATED, is_gain, log_prob_sign
from ._soft_values import LOG_OF_POLICY, soft_values
from ._verdicts import Verdicts

SAY = Verdicts(
    "wrong-sign",
    "loss",
    "error",
    "loss_contract",
    suspects=("loss-below-bound",),
    claims=("failing-one-batch-shapes", "init-loss-far-below-chance"),
    forms={
        "": "on the way to a loss that is minimised",
        "named": "what goes by the name of a divergence",
        "soft": "the entropy in soft values",
        "advantage": "a value less its return",
    },
)
_POLICY = re.compile(r"policy|actor|pg_|_pg|surr|action|clip|adv|log_?prob", re.IGNORECASE)
_ADVANTAGE = re.compile(rb"\badv\w*\s*=[^=\n]*-|\bA_k\s*=[^=\n]*-|\bA\s*=[^=\n]*-")
_SHAPES = ("detach", "squeeze", "view", "flatten", "reshape", "item", "numpy", "cpu")
_IS_ADVANTAGE = re.compile(r"^(?:adv|advantages?|A_k|A)$")
_VALUE = re.compile(r"^(?:V|v|values?|baselines?|state_values?|vals?|v_s|V_s)$")
_RETURN = re.compile(r"(?:^|_)(?:rtgs?|returns?|rets?|rewards?_to_go|discounted|G|targets?)(?:_|$)")
_CONDITIONAL = re.compile(r"cond|marg|mutual|info", re.IGNORECASE)  # parts of an information, which may be minimised
_EXP = re.compile(rb"exp_?\(")
_KL = re.compile(r"(?:^|_)kld?(?:$|_|[0-9]|loss|div)|kullback|loss", re.IGNORECASE)
_ENTROPY = re.compile(r"^(?!.*(?:cross|binary))(?:\w+_)?entrop(?:y|ies)$")
_BOUND = re.compile(rb"elbo|lower.?bound|log_?p[xz(]", re.IGNORECASE)


def check(index: Index) -> Iterator[Finding]:
    seen: set[tuple[Expr, bool]] = set()  # what one loss takes in rightly another may not
    for loss, spot in trained_losses(index):
        found = terms(index, loss, spot)
        for named, term, said in (*divergences(found), *_entropies(found), *_likelihoods(index, found)):
            if (term.expr, bool(said)) not in seen:
                seen.add((term.expr, bool(said)))
                yield _failure(named, term, said, loss, spot) if said else _right(named, term)
    for function in index.functions_holding(LOG_OF_POLICY):
        if not is_test(function.path):
            yield from _soft(function)
    for function in index.functions_holding(_ADVANTAGE):
        if not is_test(function.path):
            yield from _advantages(function)
    for function in index.functions_holding(_EXP):
        if not is_test(function.path):
            yield from _named_divergences(index, function, {expr for expr, _ in seen})


def _advantages(function: Function) -> Iterator[Finding]:
    """A_k = V.detach() - returns, which is better the worse an action was."""
    for event in function.events:
        value = event.value
        named = event.kind == "assign" and any(_IS_ADVANTAGE.search(target.last) for target in event.targets)
        if not named or value is None or value.kind != "binary" or value.text != "-":
            continue
        left, right = (_thing(part) for part in value.parts)
        if _RETURN.search(left) and _VALUE.search(right):
            yield SAY.passed(function.path, event.line, "a return less its value")
        elif _VALUE.search(left) and _RETURN.search(right):
            path, shown = function.path, written(value)
            message = f"{shown} at {path}:{event.line} is a value less the return: an action counts for the better the worse it was; expected the return less the value."
            yield SAY.fail(path, event.line, message, (Link(path, event.line, shown),), "medium", form="advantage")


def _thing(expr: Expr) -> str:
    """returns, V.detach(), self.value: its last name, behind what only brings it into shape."""
    while expr.kind == "call" and expr.last in _SHAPES:
        if expr.receiver is None:
            return ""
        expr = expr.receiver
    if expr.kind == "call":
        return expr.last
    return expr.last if expr.kind in ("path", "attr") else ""


def _soft(function: Function) -> Iterator[Finding]:
    """The entropy in the values of soft actor-critic."""
    for expr, is_same in soft_values(function):
        if not is_same:
            yield SAY.passed(function.path, expr.line, "a value and alpha * log pi have opposite signs")
            continue
        message = (
            f"{written(expr)} at {function.path}:{expr.line} takes the value and alpha * log pi with the same sign, so certainty is rewarded and "
            "exploration dies; expected Q - alpha * log pi, and alpha * log pi - Q for the actor."
        )
        link = Link(function.path, expr.line, "value and log-probability come in with one sign")
        yield SAY.fail(function.path, expr.line, message, (link,), form="soft")


def _named_divergences(index: Index, function: Function, seen: set[Expr]) -> Iterator[Finding]:
    """What is called a KL divergence or a loss, wherever it goes: kld = 0.5 * (1 + logvar - mu^2 - exp(logvar))."""
    for position, event in enumerate(function.events):
        named = _divergence_name(function, event)
        if event.value is None or not named:
            continue
        spot = Spot(function, position)
        for what, term, said in divergences(terms(index, event.value, spot)):
            if term.expr not in seen:
                seen.add(term.expr)
                is_wrong = said and not _is_turned(index, function, named)
                yield _negative(named, term) if is_wrong else _right(what, term)


def _divergence_name(function: Function, event: Event) -> str:
    """kl_loss, self.kld, losses["KLD"], what def kl_of(...) returns: the name of a divergence that something goes by."""
    if event.kind == "return":
        names = [function.name]
    else:
        targets = event.targets if event.kind == "assign" else ()
        names = [one.parts[1].text if one.kind == "index" and len(one.parts) == 2 else one.last for one in targets]
    return next((name for name in names if _KL.search(name)), "")


def _is_turned(index: Index, function: Function, name: str) -> bool:
    """Something in the file takes it away, or it is a part of a bound that is made greater."""
    for one in index.files[function.path].functions.values():
        if one.source.holds(_BOUND):
            return True
        for event in one.events:
            for part in event.value.walk() if event.value is not None else ():
                turned = part.parts[-1] if part.kind in ("unary", "binary") and "-" in part.text else None
                if turned is not None and any(inner.text == name or inner.last == name for inner in turned.walk()):
                    return True
    return False


def _negative(named: str, term: Term) -> Finding:
    path, line = term.spot.function.path, term.expr.line
    message = (
        f"{named} at {path}:{line} holds the negative of a KL divergence, and nothing in the file takes it away: added to "
        "a loss it is driven to infinity; expected -0.5 * (1 + logvar - mu**2 - exp(logvar))."
    )
    return SAY.fail(path, line, message, (Link(path, line, "exp() comes in with a minus"),), form="named")


def _entropies(found: list[Term]) -> Iterator[tuple[str, Term, str]]:
    """A bonus for the entropy of a policy, which must be taken away."""
    for term in found:
        if not _is_entropy(term.expr):
            continue
        others = [other for other in found if other is not term]
        names = " ".join(
            name
            for other in others
            for name in (*other.names, *(part.last for part in other.expr.walk() if part.kind in ("path", "call")))
        )
        if _POLICY.search(names) and not _CONDITIONAL.search(" ".join((*term.names, term.expr.last))):
            said = "is added to the loss, so it is driven to zero" if term.sign > 0 else ""
            yield "the entropy of the policy", term, said


def _is_entropy(expr: Expr) -> bool:
    """dist.entropy(), or something that is called entropy and nothing else where that is not resolved."""
    if expr.kind == "call":
        return expr.last == "entropy" and not expr.arguments
    if expr.kind == "index" and len(expr.parts) == 2 and expr.parts[1].kind == "string":
        return expr.parts[1].text == "entropy"
    if expr.kind == "index":
        return _is_entropy(expr.parts[0])
    return expr.kind == "path" and bool(_ENTROPY.search(expr.last))


def _likelihoods(index: Index, found: list[Term]) -> Iterator[tuple[str, Term, str]]:
    """log_prob * advantage, which must be taken away; and a bare log-likelihood."""
    for term in found:
        multiplied = list(factors(term.expr))
        gains = [factor for factor in multiplied if is_gain(factor)]
        logs = [factor for factor in multiplied if factor not in gains]
        if len(multiplied) < 2 or not gains or not logs:
            continue
        signs = [log_prob_sign(index, factor, term.spot) for factor in logs]
        others = [number_sign(factor) or 1 for factor in logs if not log_prob_sign(index, factor, term.spot)]
        known = [sign for sign in signs if sign]
        if len(known) == 1 and not any(NEGATED.search(name) for name in term.names[-1:] if "neg" in name):
            sign = term.sign * known[0] * _product(others) * _product(_leading(gain) for gain in gains)
            said = "is minimised, so good actions become unlikely" if sign > 0 else ""
            yield "log-probability times return", term, said


def _product(signs: Iterator[int] | list[int]) -> int:
    product = 1
    for sign in signs:
        product *= sign
    return product


def _leading(expr: Expr) -> int:
    return -1 if expr.kind == "unary" and expr.text == "-" else 1


def _right(named: str, term: Term) -> Finding:
    return SAY.passed(term.spot.function.path, term.expr.line, f"{named} has its sign right")


def _failure(named: str, term: Term, said: str, loss: Expr, spot: Spot) -> Finding:
    path, line = term.spot.function.path, term.expr.line
    chain = (
        Link(path, line, f"{written(term.expr)} comes in with the sign {'+' if term.sign > 0 else '-'}"),
        Link(spot.function.path, spot.line, f"{written(loss)} is minimised"),
    )
    message = f"{named} at {path}:{line} {said}; expected the other sign."
    return SAY.fail(path, line, message[:1].upper() + message[1:], chain)
