"""Does the loss get what it expects, and is its first value what chance gives?

Reads what enters each loss function of torch.nn.functional (range, whether rows are probabilities, which
operation made them, shapes) and the graph of the first step for losses written by hand.

Fails on: probabilities or log-probabilities where logits belong, and the reverse; values squashed twice, or put
through a ReLU; shapes that broadcast to an outer product, or one prediction compared with several targets; rows made flat in another order than their labels; a loss below its mathematical lower bound; targets that are
no probabilities, the blank of CTC, or one constant, or the very values that are to meet them; labels at the filled-up ends of sequences that count, or filled up on the other side than their inputs; a first loss far above chance; a loss that is negated before backward, sinks
or grows without bound, or is the same in every step (around 0 a note); one that lowers the scores of the labels (a note unless a softmax takes them as they are); a term of the loss that lost its graph, or is made of gradients that have none, or of comparisons; several losses of one line in each step of which only the last reaches backward; one that counts only labels which the model is given, at their place, and leaves out the hidden ones. Weights of
classes in proportion to how often each comes, so that the rare ones count least (a note where they only rise with it). Two
players that push the score of made examples the same way are a note, as is one that pushes real and made ones the same way. Where both operands of an outer product carry a gradient it is a note: scores of a
ranking may be meant to meet in all pairs; so is a cross entropy by hand without its logarithm, which a reward looks like; so is a loss of torch
that after sixty steps is the same for targets of other examples of the batch: nothing of the pairs was learned, whatever the reason; a softmax over an axis of length one; and a maximum over the examples of a batch, where each has several candidates.
A pass rules these out for the calls seen. A plausible first loss does not prove that labels are right.
Padding is told by what enters the model: one value behind (or before) sequences of different lengths and nowhere else, with one label there,
which the gradient reaches. It is a note below a tenth of the labels, and where the targets are the inputs: an end may be meant to be learned.
For models of the next token: only the beginning of each sequence counts and the varied rest is ignored, as when the answer is masked in place of
the prompt; the end of a sequence (eos_token_id of the model's settings) follows the last label that counts and is never a target, as when
padding is masked by its id and is the end token. Beside other losses, or where that end may be mere padding, it is a note.
Cost: the first three calls of each loss, twelve for padding. Cannot see: losses written by hand, other than their shapes and sign; padding
in a loss that is called for each time step, in batches of one length, or behind modules that are given no whole sequences; an end that
is told only to the tokenizer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, place, shown

from ._first_loss import chance_of, far_above_chance, per_label
from ._given_answers import only_what_is_given
from ._loss_against import against_labels
from ._loss_course import falls_without_bound, grows_without_bound, stands_still
from ._loss_inputs import (
    against_itself,
    blank_in_target,
    constant_target,
    extremes_of_examples,
    softmax_over_one,
    squashed_twice,
    target_out_of_range,
    unlogged,
    wrong_input,
)
from ._loss_mispaired import pairs_that_do_not_matter
from ._loss_overwritten import only_the_last
from ._loss_padding import padding_counted
from ._loss_shapes import elementwise_broadcast, labels_in_other_order, one_for_several, outer_products, pairs_for_rows
from ._loss_sign import below_bound, compared_terms, constant_penalties, cut_terms, negated, negated_sum
from ._loss_weights import weighs_the_common
from ._loss_words import made_at, numbers_of, span
from ._opponents import pull_together, real_like_made
from ._padded_sides import padded_apart
from ._targeted import targets_left_out

EXPERIMENT = "observe"
READS = (
    "losses",
    "padding",
    "next_tokens",
    "overwritten",
    "mispaired",
    "label_gradients",
    "opponents",
    "class_weights",
    "gradient_terms",
    "padded_sides",
)


def probe(trace: Trace) -> Iterator[Finding]:
    calls = [call for call in trace.events("loss") if call["training"]]
    graphs = trace.events("graph")
    rules: tuple[Callable[[Event], Finding | None], ...] = (
        wrong_input,
        target_out_of_range,
        blank_in_target,
        below_bound,
        elementwise_broadcast,
        one_for_several,
        pairs_for_rows,
        labels_in_other_order,
    )
    found: dict[tuple[str, object], Finding] = {}
    for call in calls:
        for rule in rules:
            finding = rule(call)
            if finding is not None:
                found.setdefault((rule.__name__, call["site"]), finding)
                break
    failures = list(found.values()) + list(outer_products(graphs))
    failures += list(negated(trace, calls)) or list(negated_sum(trace, graphs))
    failures += [*squashed_twice(graphs), *unlogged(graphs), *softmax_over_one(graphs), *extremes_of_examples(graphs)]
    failures += [
        *constant_target(trace, calls),
        *cut_terms(trace),
        *constant_penalties(trace),
        *compared_terms(trace),
        *against_itself(calls),
    ]
    if not failures:
        failures += far_above_chance(trace, calls)
        failures += [
            one for rule in (falls_without_bound, grows_without_bound, stands_still) for one in rule(trace, graphs)
        ]
    failures += [*padding_counted(trace), *targets_left_out(trace), *only_the_last(trace)]
    failures += [
        *pairs_that_do_not_matter(trace),
        *against_labels(trace),
        *(list(pull_together(trace)) or real_like_made(trace)),
    ]
    failures += [*weighs_the_common(trace), *only_what_is_given(trace), *padded_apart(trace)]
    yield from failures
    if calls and not [f for f in failures if f.is_alarm]:
        yield from _passes(calls)
    elif not calls and not failures:
        yield _nothing_seen(trace, graphs)


def _passes(calls: list[Event]) -> Iterator[Finding]:
    told = set()
    for call in calls:
        if call["site"] in told:
            continue
        told.add(call["site"])
        path, line = place(call.get("site"))
        chance = chance_of(call)
        value = call["value"] if chance is None else per_label(call)
        against = f" per label, chance {chance:.3g}" if chance is not None else ""
        if isinstance(call["value"], str):  # "nan", "inf"
            yield _without_value(call)
            continue
        first = f"; first value {value:.4g}{against}" if value is not None else ""
        yield Finding(
            by="probe:loss_contract", outcome="pass", confidence="high", family="loss", path=path, line=line,
            message=f"{call['fn']} at {shown(call)} gets {_kind(call)} in [{span(call)}]"
            f"{made_at(call.get('producer') or {})}{first}",
            measured={**numbers_of(call), **({"chance": round(chance, 4)} if chance is not None else {})},
        )  # fmt: skip


def _without_value(call: Event) -> Finding:
    path, line = place(call.get("site"))
    return Finding(by="probe:loss_contract", outcome="open", family="loss", path=path, line=line,
                   message=f"whether {call['fn']} at {shown(call)} gets what it expects stays open: its first value is {call['value']}",
                   next="run the probe first_nonfinite")  # fmt: skip


def _nothing_seen(trace: Trace, graphs: tuple[Event, ...]) -> Finding:
    path, line = place(graphs[0]["site"]) if graphs else (None, None)
    if graphs:
        ops = ", ".join(graphs[0]["ops"][:4])
        shapes = "no outer product on its way" if graphs[0]["shapes_known"] else "shapes are not told by this torch"
        message = f"the loss is written by hand (last operations: {ops}): {shapes}, its inputs were not judged"
    else:
        message = "no loss function was called in training and no backward was seen"
    return Finding(by="probe:loss_contract", outcome="open", family="loss", path=path, line=line, message=message,
                   next="compare the loss of one batch with the value for a constant prediction by hand")  # fmt: skip


def _kind(call: Event) -> str:
    holds = str(call.get("holds", "values"))
    return holds if holds.endswith("probabilities") else "values"
