"""Anomaly mode lets a NaN loss through when the gradients are finite, and stops only at a NaN in the backward pass."""

import math
import warnings

import torch

CLAIMS = {
    "anomaly-mode-sees-backward-only": "log of a negative number under detect_anomaly: loss {loss}, gradient {gradient:.2f}, "
    "{forward_errors:.0f} errors; root of zero times zero: {backward_errors:.0f} error",
}
SEEDS = 1
EXPECT = {
    "the loss is nan": lambda m: math.isnan(m["loss"]),
    "and nothing was raised": lambda m: m["forward_errors"] == 0 and math.isfinite(m["gradient"]),
    "a nan in the backward pass is raised": lambda m: m["backward_errors"] == 1,
}


def under_anomaly(function, value):
    x = torch.tensor(value, requires_grad=True)
    with warnings.catch_warnings(), torch.autograd.detect_anomaly(check_nan=True):
        warnings.simplefilter("ignore")
        loss = function(x)
        try:
            loss.backward()
        except RuntimeError:
            return loss.item(), math.nan, 1
    return loss.item(), x.grad.item(), 0


def measure(seed):
    loss, gradient, forward = under_anomaly(torch.log, -1.0)
    _, _, backward = under_anomaly(lambda x: x.sqrt() * 0, 0.0)
    return {"loss": loss, "gradient": gradient, "forward_errors": forward, "backward_errors": backward}
