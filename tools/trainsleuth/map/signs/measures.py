"""What says how well a run does: functions and classes that measure, where an evaluation calls them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Branch, Expr, Function, is_eval

from ..loop.networks import calls_network
from ..program import Program
from ..records import Place

_MEASURES = re.compile(
    r"(?:^|_)(?:acc|accuracy|auc|auroc|f1|iou|miou|ap|(?-i:mAP)|psnr|ssim|rmse|mae|mse|corrcoef|corr|pearsonr?|spearmanr?|kendall(?:tau)?|"
    r"(?:compute|calc(?:ulate)?|get|eval)_(?:\w+_)?(?:errors?|metrics?|scores?|fid|accuracy|distance|prec\w*)|frechet_distance|"
    r"(?:\w+_)?(?:mpjpe|mpvpe|mrr|ndcg|epe|chamfer\w*|pesq|stoi|si_?sdr|lpips)|"
    r"recall|precision|top_?ks?|bleu|rouge|wer|cer|perplexity|fid|confusion_matrix|r2|criterion|metrics?|(?:\w+_)?loss)(?:_(?:score|correct|fn|func))?$",
    re.I,
)


def measures(call: Expr) -> bool:
    """It is called after what is measured: corrcoef(), compute_metrics()."""
    return _MEASURES.search(call.last) is not None


def measured(program: Program, function: Function) -> Iterator[Place]:
    """What a pass of evaluation measures: corrcoef(), topks_correct(), the loss on held-out data."""
    weight = program.weight(function) ** 0.4
    for event in function.events:
        for call in event.calls:
            targets = program.graph.targets(function, call)
            if _MEASURES.search(call.last) or _is_gathered(call) or any(_is_metric(one) for one in targets):
                yield program.at(function, call.line, "metric", 0.64 * weight)
                for target in targets:
                    if isinstance(target, Function) and target.name == call.last:
                        yield program.at(target, target.line, "definition", 0.58 * weight)


def _is_gathered(call: Expr) -> bool:
    """coco_evaluator.update(results), self.metric.compute()"""
    held = call.receiver.last if call.receiver is not None else ""
    return call.last in _GATHERS and _GATHERERS.search(held) is not None


_GATHERS = ("update", "accumulate", "summarize", "compute", "add_batch", "process")
_GATHERERS = re.compile(r"(?:^|_)(?:evaluators?|metrics?|scorer)$")


def metric_classes(program: Program) -> Iterator[Place]:
    """Classes that measure: one of torchmetrics, or one that says so, PSNR(nn.Module); where the first is made."""
    for cls, sites in program.made_at.items():
        bases = program.index.external_bases(cls)
        if any(map(_METRIC_BASE.search, bases)) or SAYS_METRIC.search(cls.name) or cls.name.endswith("Metric"):
            yield program.at_target(cls, "metric", 0.6)
            yield from (program.at(function, line, "metric", 0.52) for function, line in sites[:1])


_METRIC_BASE = re.compile(
    r"^(?:torchmetrics|ignite\.metrics|pytorch_lightning\.metrics|datasets|evaluate)\.(?:\w+\.)*Metric$"
)


def in_the_loop(program: Program) -> Iterator[Place]:
    """What the training step does after it has put the network into evaluation mode, in the same arm."""
    step = program.training.step
    if step is None:
        return
    within: tuple[Branch, ...] = ()
    for event in step.events:
        modes = {
            "eval" if is_eval(call) else call.last
            for call in event.calls
            if is_eval(call) or (call.receiver is not None and not call.parts[1:])
        }
        if "eval" in modes and event.block.loops:
            within = event.block.branches
        elif "train" in modes:
            within = ()
        if within and event.block.branches[: len(within)] == within:
            for call in event.calls:
                if calls_network(program.values, step, call):
                    yield program.at(step, call.line, "forward", 0.62)
                elif _MEASURES.search(call.last):
                    yield program.at(step, call.line, "metric", 0.6)


def _is_metric(target: object) -> bool:
    """A function of a file of metrics, or one that says what it measures: intersection_and_union()."""
    if not isinstance(target, Function) or target.name.startswith("_"):
        return False
    return _METRIC_FILE.search(target.path) is not None or SAYS_METRIC.search(target.name) is not None


_METRIC_FILE = re.compile(r"(?:^|/)(?:metrics?|\w+_metrics?)(?:/|\.py$)")
SAYS_METRIC = re.compile(r"iou|intersection_?and_?union|psnr|ssim|rmse|ndcg|bleu|rouge|accuracy|auroc|dice_coef", re.I)
