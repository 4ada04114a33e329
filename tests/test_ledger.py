"""The ledger: what findings do to hypotheses, and which test it asks for next."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace
from typing import Literal

import pytest
from trainsleuth import lore
from trainsleuth.finding import Confidence, Family, Finding, Severity
from trainsleuth.hypothesis import Hypothesis, reference
from trainsleuth.ledger import LedgerError, confirm, suggest, update
from trainsleuth.likelihoods import priors, table
from trainsleuth.next_test import expected_bits


def fail(
    by: str,
    *claims: str,
    family: Family = "loss",
    confidence: Confidence = "high",
    severity: Severity = "error",
    message: str = "what, where, expected, got",
) -> Finding:
    return Finding(by, "fail", message, severity=severity, confidence=confidence, family=family, claims=claims)


def said(by: str, outcome: Literal["pass", "open", "skip"]) -> Finding:
    return Finding(by, outcome, "what was looked at", confidence="high")


ALL_PASS = [said(column.test, "pass") for column in table().columns.values()]


def by_id(hypotheses: list[Hypothesis]) -> dict[str, Hypothesis]:
    return {one.id: one for one in hypotheses}


def test_the_table_is_whole() -> None:
    shipped = table()
    assert set(shipped.groups) == {cause.group for cause in shipped.causes.values()}
    for name, group in shipped.groups.items():
        inside = [cause.weight for cause in shipped.causes.values() if cause.group == name]
        assert math.isclose(sum(inside), group.weight), name
        assert group.low <= group.weight / 21 <= group.high, name
    for column in shipped.columns.values():
        assert set(column.fails) <= set(shipped.causes), column.test
        assert all(column.otherwise < p <= 1 for p in column.fails.values()), column.test
        assert column.seconds > 0 and column.question and column.reason
    for symptom in shipped.symptoms:
        assert set(symptom.causes) <= set(shipped.causes), symptom.words
    for cause in shipped.causes.values():
        assert set(cause.claims) <= set(lore.claims()), cause.id
        assert cause.reason and cause.statement


def test_before_any_finding_the_priors_stand() -> None:
    hypotheses = update([])
    assert math.isclose(sum(one.credence.middle for one in hypotheses), 1, abs_tol=0.01)
    for one in hypotheses:
        assert one.verdict == "open"
        assert vars(one.credence) == pytest.approx(vars(one.prior), abs=2e-4)
        assert one.prior.low < one.prior.middle < one.prior.high
        assert " to " in str(one.prior)
    data = sum(one.prior.middle for one in hypotheses if one.family == "data")
    assert 0.30 < data < 0.45


def test_a_symptom_moves_the_priors_to_what_it_names() -> None:
    first = {symptom: update([], symptom=symptom)[0].id for symptom in SYMPTOMS}
    assert first == SYMPTOMS


SYMPTOMS = {
    "the loss is NaN after 500 steps": "nonfinite-in-forward",
    "the loss becomes negative": "loss-below-bound",
    "validation accuracy is suspiciously too good": "split-leak",
    "results differ between seeds": "seed-noise",
    "validation loss is much worse than training loss": "preprocessing-mismatch",
}


@pytest.mark.parametrize(
    ("symptom", "cause"),
    [
        ("loss stuck at 2.3", "loss-cut-from-graph"),
        ("the loss doesn't decrease", "learning-rate-zero-or-tiny"),
        ("val worse than train", "eval-mode"),
        ("training diverges", "learning-rate-too-high"),
        ("the first loss is 27 instead of 6.9", "bad-initialisation-scale"),
        ("after resuming from a checkpoint the loss jumps", "another-loop-fault"),
    ],
)
def test_a_symptom_raises_its_causes(symptom: str, cause: str) -> None:
    assert priors(symptom)[cause].middle > 1.5 * priors()[cause].middle


@pytest.mark.parametrize("symptom", ["", "information", "banana", "evaluate it later"])
def test_words_that_are_no_symptom_change_nothing(symptom: str) -> None:
    assert priors(symptom) == priors()


def test_many_devices_make_the_platform_a_suspect() -> None:
    assert 0.3 < priors(many_devices=True)["library-or-hardware"].middle < 0.6
    assert math.isclose(sum(one.middle for one in priors(many_devices=True).values()), 1, abs_tol=0.01)


NAMES = [
    (fail("check:double-softmax"), "double-normalised-loss"),
    (fail("check:missing-zero-grad", family="training-procedure"), "missing-zero-grad"),
    (fail("check:detached-loss", family="training-procedure"), "loss-cut-from-graph"),
    (fail("check:plain-list-submodules", family="architecture"), "unregistered-submodules"),
    (fail("probe:loss_contract", "softmax-before-ce"), "double-normalised-loss"),
    (fail("probe:loss-contract", "shape-broadcast-loss"), "broadcast-in-loss"),
    (fail("probe:loss_contract", "init-loss-at-chance"), "bad-initialisation-scale"),
    (fail("probe:parameter_table", "lr-decay-defaults", family="optimizer"), "learning-rate-zero-or-tiny"),
    (fail("probe:step_trace", "zero-grad-forgotten"), "missing-zero-grad"),
    (fail("probe:first_nonfinite", family="numerical"), "nonfinite-in-forward"),
    (fail("probe:first_nonfinite", "outliers-show-bugs", family="data"), "bad-data-values"),
]


@pytest.mark.parametrize(("finding", "cause"), NAMES, ids=lambda value: getattr(value, "by", value))
def test_a_sure_failure_supports_the_cause_it_names(finding: Finding, cause: str) -> None:
    first = update([finding])[0]
    assert (first.id, first.verdict) == (cause, "supported")
    assert first.for_ == (reference(finding),)
    assert first.credence.middle > 10 * first.prior.middle


@pytest.mark.parametrize("finding", [pair[0] for pair in NAMES], ids=lambda finding: finding.by)
def test_nothing_is_confirmed_by_failures_alone(finding: Finding) -> None:
    again = [fail(finding.by, *finding.claims, message=f"site {n}") for n in range(20)]
    assert not [one for one in update([finding, *again, *(pair[0] for pair in NAMES)]) if one.verdict == "confirmed"]


def test_a_low_confidence_moves_less() -> None:
    causes = [
        by_id(update([fail("check:double-softmax", confidence=sure)]))["double-normalised-loss"].credence.middle
        for sure in ("low", "medium", "high")
    ]
    assert causes == sorted(causes) and causes[0] < 0.3 * causes[2]
    noted = by_id(update([fail("check:double-softmax", severity="note")]))["double-normalised-loss"]
    assert noted.credence.middle == causes[0]


def test_a_test_that_says_it_twice_counts_once() -> None:
    once = update([fail("check:double-softmax")])
    thrice = update([fail("check:double-softmax", message=f"site {n}") for n in range(3)])
    assert [one.credence for one in once] == [one.credence for one in thrice]


def test_two_true_causes_do_not_hide_each_other() -> None:
    both = by_id(update([NAMES[0][0], NAMES[1][0]]))
    assert both["double-normalised-loss"].verdict == "supported"
    assert both["missing-zero-grad"].verdict == "supported"


def test_open_and_skip_say_nothing() -> None:
    quiet = [said("check:double-softmax", "open"), said("probe:loss_contract", "skip")]
    assert update(quiet) == update([])


def test_passes_refute_what_they_would_have_shown_and_no_more() -> None:
    after = by_id(update(ALL_PASS))
    for gone in (
        "double-normalised-loss",
        "missing-zero-grad",
        "loss-cut-from-graph",
        "optimizer-misses-parameters",
    ):
        assert after[gone].verdict == "refuted"
        assert after[gone].against
    for left in ("targets-misaligned-with-inputs", "label-noise", "split-leak", "seed-noise"):
        assert after[left].verdict == "open"
        assert after[left].credence.middle > 0.5 * after[left].prior.middle


def test_one_silent_search_refutes_nothing() -> None:
    passes = [finding for finding in ALL_PASS if finding.by.startswith("check:")]
    assert {one.verdict for one in update(passes)} == {"open"}


def test_a_failure_outweighs_the_passes_of_the_same_test() -> None:
    check = [fail("check:double-softmax"), said("check:double-softmax", "pass")]
    assert by_id(update(check))["double-normalised-loss"].verdict == "supported"


def test_an_alarm_may_name_a_cause_that_its_row_does_not_know() -> None:
    copies = replace(fail("probe:independence", "off-by-one-target"), suspects=("targets-misaligned-with-inputs",))
    first = update([*ALL_PASS, copies])[0]
    assert (first.id, first.verdict, first.for_) == (
        "targets-misaligned-with-inputs",
        "supported",
        (reference(copies),),
    )
    beside = ("learning-rate-too-high", "accumulation-scale")
    row = table().columns["probe:first-nonfinite"]
    counted = table().column(replace(fail(row.test), suspects=beside))
    assert counted is not None and counted.fails["accumulation-scale"] == row.fails["learning-rate-too-high"]
    noted = replace(fail("probe:determinism", severity="note"), suspects=("seed-noise",))
    assert table().column(noted) == table().columns["probe:determinism"]


def test_what_a_probe_saw_is_not_undone_by_what_others_did_not_see() -> None:
    fell = replace(fail("probe:learning_rate", family="optimizer"), suspects=("learning-rate-zero-or-tiny",))
    passes = [one for one in ALL_PASS if one.by != fell.by]
    first = update([fell, *passes])[0]
    assert (first.id, first.verdict, first.against) == ("learning-rate-zero-or-tiny", "supported", ())
    for doubtful in (replace(fell, confidence="medium"), replace(fell, severity="note")):
        assert by_id(update([doubtful, *passes]))["learning-rate-zero-or-tiny"].against
    search = [fail("check:double-softmax"), said("probe:loss_contract", "pass")]
    assert by_id(update(search))["double-normalised-loss"].against


def test_a_test_that_fails_is_not_cited_against_its_cause() -> None:
    both = [NAMES[8][0], said(NAMES[8][0].by, "pass")]
    assert by_id(update(both))["missing-zero-grad"].against == ()


def test_the_order_of_findings_does_not_matter() -> None:
    findings = [NAMES[0][0], NAMES[4][0], said("probe:step_trace", "pass"), fail("probe:overfit_one_batch")]
    results = [update(order) for order in itertools.permutations(findings)]
    assert all(result == results[0] for result in results)


def test_credence_stays_a_probability_whatever_is_found() -> None:
    draw = random.Random(1)
    tests = [*(column.test for column in table().columns.values()), "check:unknown", "reader"]
    claims = list(lore.claims())
    for _ in range(60):
        findings = [
            Finding(
                draw.choice(tests),
                draw.choice(("fail", "pass", "open", "skip")),
                f"m{n}",
                confidence=draw.choice(("high", "medium", "low")),
                family=draw.choice(("loss", "data", "numerical", "rl")),
                claims=tuple(draw.sample(claims, 2)),
            )
            for n in range(draw.randrange(30))
        ]
        hypotheses = update(findings, symptom=draw.choice(list(SYMPTOMS)))
        assert math.isclose(sum(one.credence.middle for one in hypotheses), 1, abs_tol=0.02)
        assert all(0 <= one.credence.low <= one.credence.middle <= one.credence.high <= 1 for one in hypotheses)


def test_a_test_of_which_the_table_knows_nothing_counts_by_its_claims() -> None:
    first = update([fail("check:view-for-transpose", "view-vs-permute", family="architecture")])[0]
    assert first.id == "wrong-axis-or-mask"
    both = by_id(update([fail("check:new", "view-vs-permute"), fail("check:new", "train-eval-mode", message="other")]))
    for cause in ("wrong-axis-or-mask", "eval-mode"):
        assert both[cause].credence.middle > 3 * both[cause].prior.middle
    assert update([fail("check:unknown", "no-such-claim")]) == update([])
    assert update([said("check:unknown", "pass")]) == update([])


def test_only_a_flip_confirms() -> None:
    before = fail("probe:loss_contract", "softmax-before-ce")
    after = said("probe:loss_contract", "pass")
    hypothesis = by_id(update([before]))["double-normalised-loss"]
    confirmed = confirm(hypothesis, before, after)
    assert confirmed.verdict == "confirmed"
    assert confirmed.for_ == (reference(before), reference(after))
    assert confirmed.credence.middle > hypothesis.credence.middle
    for one, other, why in [
        (after, before, "expected fail to pass"),
        (before, said("probe:step_trace", "pass"), "same probe"),
        (fail("check:double-softmax"), said("check:double-softmax", "pass"), "same probe"),
        (fail("probe:loss_contract", "shape-broadcast-loss"), after, "says nothing about"),
    ]:
        with pytest.raises(LedgerError, match=why):
            confirm(hypothesis, one, other)


def test_the_next_test_fits_the_symptom() -> None:
    assert suggest(update([], symptom="nan after 500 steps"))[0].test == "probe:first_nonfinite"
    stuck = [one.test for one in suggest(update([], symptom="loss stuck at 2.3"))]
    assert stuck.index("probe:parameter_table") < stuck.index("probe:first_nonfinite")


def test_what_is_done_or_too_long_is_not_suggested() -> None:
    hypotheses = update([])
    assert "probe:overfit_one_batch" not in {one.test for one in suggest(hypotheses, time_left=30)}
    done = [column.test.replace("_", "-") for column in table().columns.values()]
    assert suggest(hypotheses, done=done) == []
    assert suggest(hypotheses, time_left=0) == []
    assert suggest([]) == []


def test_a_suggestion_says_what_it_separates_and_how_to_run_it() -> None:
    for one in suggest(update([NAMES[0][0]])):
        assert one.separates[0] != one.separates[1]
        assert all(cause in one.why for cause in one.separates)
        assert one.command.startswith(("trainsleuth check --only ", "trainsleuth probe --only "))
        assert one.expected_bits_per_second > 0


def test_expected_bits_lie_between_nothing_and_the_doubt_that_is_left() -> None:
    shares = {one.id: one.credence.middle for one in update([])}
    total = sum(shares.values())
    doubt = -sum(share / total * math.log2(share / total) for share in shares.values())
    for column in table().columns.values():
        assert 0 < expected_bits(column, shares) < doubt
        assert expected_bits(column, {"seed-noise": 1.0}) == 0
