"""Faults to plant into any program: each patches torch the way the user's own code would have got it wrong.

They lie above the runtime's hooks, so the hooks see what a program with this fault does. `fired` is called
when a fault has changed something: cells in which it never does are not counted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

Fired = Callable[[], None]


def _replace(owner: Any, name: str, change: Callable[..., Any]) -> None:
    original = getattr(owner, name)
    setattr(owner, name, functools.wraps(original)(functools.partial(change, original)))


def _method(owner: Any, name: str, change: Callable[..., Any]) -> None:
    original = getattr(owner, name)

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return change(original, self, *args, **kwargs)

    setattr(owner, name, method)


def _on_birth(torch: Any, change: Callable[[Any], None]) -> None:
    """`change(optimizer)` as soon as one is built."""

    def born(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        change(self)

    _method(torch.optim.Optimizer, "__init__", born)


def _members(optimizer: Any) -> list[Any]:
    return [p for group in optimizer.param_groups for p in group["params"]]


def _on_target(torch: Any, change: Callable[[Any], Any], fired: Fired) -> None:
    """`change(target)` in every loss that compares with one."""
    for name in (
        "cross_entropy",
        "nll_loss",
        "mse_loss",
        "l1_loss",
        "smooth_l1_loss",
        "binary_cross_entropy_with_logits",
    ):

        def loss(original: Any, input: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
            changed = change(target) if target.dim() else target
            if changed is not target:
                fired()
            return original(input, changed, *args, **kwargs)

        _replace(torch.nn.functional, name, loss)


def _on_input(torch: Any, names: tuple[str, ...], change: Callable[[Any], Any], fired: Fired) -> None:
    for name in names:

        def loss(original: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
            fired()
            return original(change(input), *args, **kwargs)

        _replace(torch.nn.functional, name, loss)


def _on_batch(torch: Any, change: Callable[[Any, int], Any], fired: Fired) -> None:
    """`change(tensor, number)` on every floating tensor of a loader's batches."""
    count = [0]

    def walk(value: Any) -> Any:
        if hasattr(value, "is_floating_point"):
            if not value.is_floating_point() or value.dim() < 2:
                return value
            fired()
            return change(value, count[0])
        if isinstance(value, dict):
            return {key: walk(item) for key, item in value.items()}
        if type(value) in (list, tuple):
            return type(value)(walk(item) for item in value)
        return value

    def following(original: Any, self: Any) -> Any:
        batch = original(self)
        count[0] += 1
        return walk(batch)

    _method(torch.utils.data.dataloader._BaseDataLoaderIter, "__next__", following)


# -- the loop ------------------------------------------------------------------------------


def gradients_are_never_cleared(torch: Any, fired: Fired) -> None:
    for owner in (torch.optim.Optimizer, torch.nn.Module):
        _method(owner, "zero_grad", lambda original, self, *a, **k: fired())


def gradients_are_cleared_before_the_step(torch: Any, fired: Fired) -> None:
    def change(optimizer: Any) -> None:
        step = optimizer.step

        def cleared(*args: Any, **kwargs: Any) -> Any:
            if not args and not kwargs:
                fired()
                optimizer.zero_grad()
            return step(*args, **kwargs)

        optimizer.step = cleared

    _on_birth(torch, change)


def the_loss_is_detached(torch: Any, fired: Fired) -> None:
    def backward(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        fired()
        return original(self.detach().clone().requires_grad_(), *args, **kwargs)

    _method(torch.Tensor, "backward", backward)


def the_loss_is_negated(torch: Any, fired: Fired) -> None:
    def backward(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        fired()
        return original(-self, *args, **kwargs)

    _method(torch.Tensor, "backward", backward)


def training_mode_is_never_restored(torch: Any, fired: Fired) -> None:
    def train(original: Any, self: Any, mode: bool = True) -> Any:
        if mode and not self.training:
            fired()
            return self
        return original(self, mode)

    _method(torch.nn.Module, "train", train)


def evaluation_mode_is_never_set(torch: Any, fired: Fired) -> None:
    def eval_(original: Any, self: Any) -> Any:
        fired()
        return self

    _method(torch.nn.Module, "eval", eval_)


# -- optimizer -----------------------------------------------------------------------------


def _rate(factor: float) -> Callable[[Any, Fired], None]:
    def fault(torch: Any, fired: Fired) -> None:
        def change(optimizer: Any) -> None:
            for group in optimizer.param_groups:
                group["lr"] = group["lr"] * factor
                fired()

        _on_birth(torch, change)

    return fault


def the_rate_collapses(torch: Any, fired: Fired) -> None:
    def change(optimizer: Any) -> None:
        step = optimizer.step

        def slower(*args: Any, **kwargs: Any) -> Any:
            fired()
            found = step(*args, **kwargs)
            for group in optimizer.param_groups:
                group["lr"] *= 0.6
            return found

        optimizer.step = slower

    _on_birth(torch, change)


def the_optimizer_misses_the_last_layer(torch: Any, fired: Fired) -> None:
    def change(optimizer: Any) -> None:
        group = optimizer.param_groups[-1]
        if len(group["params"]) > 3:
            fired()
            del group["params"][-2:]

    _on_birth(torch, change)


def the_optimizer_holds_copies(torch: Any, fired: Fired) -> None:
    def change(optimizer: Any) -> None:
        fired()
        for group in optimizer.param_groups:
            group["params"] = [p.detach().clone().requires_grad_() for p in group["params"]]

    _on_birth(torch, change)


def most_parameters_are_frozen(torch: Any, fired: Fired) -> None:
    def change(optimizer: Any) -> None:
        members = _members(optimizer)
        for p in members[: 2 * len(members) // 3]:
            fired()
            p.requires_grad_(False)

    _on_birth(torch, change)


def weights_start_thirty_times_too_large(torch: Any, fired: Fired) -> None:
    def change(optimizer: Any) -> None:
        for p in _members(optimizer):
            if p.dim() >= 2:
                fired()
                p.data.mul_(30.0)

    _on_birth(torch, change)


def weights_start_at_zero(torch: Any, fired: Fired) -> None:
    def change(optimizer: Any) -> None:
        for p in _members(optimizer):
            fired()
            p.data.zero_()

    _on_birth(torch, change)


# -- loss ----------------------------------------------------------------------------------


def softmax_before_cross_entropy(torch: Any, fired: Fired) -> None:
    _on_input(torch, ("cross_entropy",), lambda scores: scores.softmax(1 if scores.dim() > 1 else 0), fired)


def probabilities_into_nll(torch: Any, fired: Fired) -> None:
    _on_input(torch, ("nll_loss",), lambda scores: scores.exp(), fired)


def sigmoid_before_logits_loss(torch: Any, fired: Fired) -> None:
    _on_input(torch, ("binary_cross_entropy_with_logits",), lambda scores: scores.sigmoid(), fired)


def targets_between_minus_one_and_one(torch: Any, fired: Fired) -> None:
    def loss(original: Any, input: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        fired()
        return original(input, 2 * target - 1, *args, **kwargs)

    _replace(torch.nn.functional, "binary_cross_entropy_with_logits", loss)


def predictions_broadcast_against_targets(torch: Any, fired: Fired) -> None:
    def loss(original: Any, input: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        if target.dim() == 2 and target.shape[1] == 1 and len(target) > 1:
            fired()
            target = target.squeeze(1)
        return original(input, target, *args, **kwargs)

    _replace(torch.nn.functional, "mse_loss", loss)


def targets_are_shuffled_each_step(torch: Any, fired: Fired) -> None:
    _on_target(torch, lambda target: target[torch.randperm(len(target))], fired)


def targets_are_those_of_the_neighbour(torch: Any, fired: Fired) -> None:
    _on_target(torch, lambda target: target.roll(1, 0), fired)


def all_targets_are_one_class(torch: Any, fired: Fired) -> None:
    _on_target(torch, lambda target: target if target.is_floating_point() else torch.zeros_like(target), fired)


def a_log_of_zero_in_the_loss(torch: Any, fired: Fired) -> None:
    def loss(original: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
        fired()
        return original(input, *args, **kwargs) + (input * 0).log().mean()

    for name in ("cross_entropy", "mse_loss", "nll_loss"):
        _replace(torch.nn.functional, name, loss)


def a_root_of_zero_in_the_loss(torch: Any, fired: Fired) -> None:
    def loss(original: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
        fired()
        return original(input, *args, **kwargs) + (input * 0).square().sum().sqrt()

    for name in ("cross_entropy", "mse_loss", "nll_loss"):
        _replace(torch.nn.functional, name, loss)


# -- data ----------------------------------------------------------------------------------


def every_example_is_the_first(torch: Any, fired: Fired) -> None:
    _on_batch(torch, lambda x, number: x[:1].expand_as(x).clone(), fired)


def inputs_are_zero(torch: Any, fired: Fired) -> None:
    _on_batch(torch, lambda x, number: x * 0, fired)


def one_value_is_nan(torch: Any, fired: Fired) -> None:
    def change(x: Any, number: int) -> Any:
        if number != 12:
            return x
        x = x.clone()
        x.view(-1)[3] = float("nan")
        return x

    _on_batch(torch, change, fired)


def evaluation_inputs_are_not_scaled(torch: Any, fired: Fired) -> None:
    _on_batch(torch, lambda x, number: x if torch.is_grad_enabled() else 30 * x + 100, fired)


def the_first_batch_comes_again_and_again(torch: Any, fired: Fired) -> None:
    first: dict[Any, Any] = {}

    def change(x: Any, number: int) -> Any:
        return first.setdefault((tuple(x.shape), torch.is_grad_enabled()), x).clone()

    _on_batch(torch, change, fired)


# -- model ---------------------------------------------------------------------------------


def rectifiers_are_dead(torch: Any, fired: Fired) -> None:
    def dead(original: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
        fired()
        return original(input - 50.0, *args, **kwargs)

    for owner in (torch.nn.functional, torch):
        _replace(owner, "relu", dead)


def attention_masks_are_ignored(torch: Any, fired: Fired) -> None:
    def unmasked(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        fired()
        return self * 1

    _method(torch.Tensor, "masked_fill", unmasked)


def softmax_runs_over_the_batch(torch: Any, fired: Fired) -> None:
    def over_batch(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        fired()
        return original(self.clamp(min=-1e4), dim=0)

    _method(torch.Tensor, "softmax", over_batch)


def layer_norm_runs_over_the_batch(torch: Any, fired: Fired) -> None:
    def over_batch(original: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
        fired()
        return (input - input.mean(0, keepdim=True)) / (input.var(0, unbiased=False, keepdim=True) + 1e-5).sqrt()

    _replace(torch.nn.functional, "layer_norm", over_batch)


# fault -> hypotheses of which one, at least, must be suspected; "" where any alarm is right
FAULTS: dict[str, tuple[Callable[[Any, Fired], None], tuple[str, ...]]] = {
    "gradients are never cleared": (gradients_are_never_cleared, ("missing-zero-grad",)),
    "gradients are cleared before the step": (gradients_are_cleared_before_the_step, ("step-order",)),
    "the loss is detached": (the_loss_is_detached, ("loss-cut-from-graph",)),
    "the loss is negated": (the_loss_is_negated, ("loss-below-bound",)),
    "training mode is never restored": (training_mode_is_never_restored, ("eval-mode",)),
    "evaluation mode is never set": (evaluation_mode_is_never_set, ("eval-mode",)),
    "the learning rate is zero": (_rate(0.0), ("learning-rate-zero-or-tiny",)),
    "the learning rate is a billionth": (_rate(1e-9), ("learning-rate-zero-or-tiny",)),
    "the learning rate is a thousand times too large": (_rate(1e3), ("learning-rate-too-high", "bad-initialisation-scale")),
    "the rate collapses": (the_rate_collapses, ("learning-rate-zero-or-tiny",)),
    "the optimizer misses the last layer": (the_optimizer_misses_the_last_layer, ("optimizer-misses-parameters",)),
    "the optimizer holds copies": (the_optimizer_holds_copies, ("optimizer-misses-parameters", "loss-cut-from-graph", "step-order")),
    "most parameters are frozen": (most_parameters_are_frozen, ("frozen-parameters",)),
    "weights start thirty times too large": (weights_start_thirty_times_too_large, ("bad-initialisation-scale", "learning-rate-too-high")),
    "weights start at zero": (weights_start_at_zero, ("input-does-not-matter", "loss-cut-from-graph", "step-order")),
    "softmax before cross-entropy": (softmax_before_cross_entropy, ("double-normalised-loss",)),
    "probabilities into nll_loss": (probabilities_into_nll, ("double-normalised-loss",)),
    "sigmoid before a loss on logits": (sigmoid_before_logits_loss, ("double-normalised-loss",)),
    "targets between -1 and 1": (targets_between_minus_one_and_one, ("loss-below-bound",)),
    "predictions broadcast against targets": (predictions_broadcast_against_targets, ("broadcast-in-loss",)),
    "targets are shuffled each step": (targets_are_shuffled_each_step, ("targets-misaligned-with-inputs",)),
    "targets are those of the neighbour": (targets_are_those_of_the_neighbour, ("targets-misaligned-with-inputs",)),
    "all targets are one class": (all_targets_are_one_class, ("too-little-or-unbalanced-data",)),
    "a log of zero in the loss": (a_log_of_zero_in_the_loss, ("nonfinite-in-forward",)),
    "a root of zero in the loss": (a_root_of_zero_in_the_loss, ("nonfinite-in-backward", "nonfinite-in-forward")),
    "every example is the first": (every_example_is_the_first, ("bad-data-values",)),
    "inputs are zero": (inputs_are_zero, ("bad-data-values",)),
    "one value is NaN": (one_value_is_nan, ("bad-data-values",)),
    "evaluation inputs are not scaled": (evaluation_inputs_are_not_scaled, ("preprocessing-mismatch",)),
    "the first batch comes again and again": (the_first_batch_comes_again_and_again, ("bad-data-values",)),
    "rectifiers are dead": (rectifiers_are_dead, ("input-does-not-matter", "loss-cut-from-graph")),
    "attention masks are ignored": (attention_masks_are_ignored, ("wrong-axis-or-mask",)),
    "softmax runs over the batch": (softmax_runs_over_the_batch, ("wrong-axis-or-mask",)),
    "layer norm runs over the batch": (layer_norm_runs_over_the_batch, ("wrong-axis-or-mask",)),
}  # fmt: skip
