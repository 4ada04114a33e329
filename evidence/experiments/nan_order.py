"""Whether the loss or the gradient norm turns NaN first tells the forward pass from the backward pass."""

import math

import torch

CLAIMS = {
    "nan-loss-or-grad-first": "a logarithm that goes below zero: loss NaN in step {forward_loss:.0f}, the gradient norm of the step "
    "before {before:.1f}; a root at zero: gradient NaN in step {backward_grad:.0f}, loss NaN only in step {backward_loss:.0f}",
    "where-does-not-stop-nan": "log behind a where: loss {where_loss:.1f}, gradient {where_grad}; with the argument made safe first "
    "{safe_grad:.1f}",
}
SEEDS = 1
EXPECT = {
    "forward: the gradient before was finite": lambda m: math.isfinite(m["before"]),
    "backward: the gradient breaks one step before the loss": lambda m: m["backward_loss"] == m["backward_grad"] + 1,
    "where lets the gradient through": lambda m: math.isfinite(m["where_loss"]) and math.isnan(m["where_grad"]),
    "a safe argument does not": lambda m: math.isfinite(m["safe_grad"]),
}


def trace(loss_of, start, rate):
    """Loss and gradient norm of each step of SGD until the loss is not finite."""
    weight = torch.tensor(start, requires_grad=True)
    for _ in range(20):
        weight.grad = None
        loss = loss_of(weight)
        loss.backward()
        yield loss.item(), weight.grad.norm().item()
        if not math.isfinite(loss.item()):
            return
        with torch.no_grad():
            weight -= rate * weight.grad


def first_bad(values):
    return next(step for step, value in enumerate(values) if not math.isfinite(value))


def gradient_through(function):
    x = torch.tensor([0.0, 2.0], requires_grad=True)
    loss = function(x).sum()
    loss.backward()
    return loss.item(), x.grad[0].item()


def measure(seed):
    forward = list(trace(lambda w: w.log().sum(), [1.0], 0.4))
    backward = list(trace(lambda w: (w * torch.tensor([1.0, 0.0])).norm(dim=0).sqrt() + w.sum(), [0.0, 0.0], 0.1))
    bad = first_bad([loss for loss, _ in forward])
    where_loss, where_grad = gradient_through(lambda x: torch.where(x > 0, x.log(), 0.0))
    return {
        "forward_loss": bad,
        "before": forward[bad - 1][1],
        "backward_grad": first_bad([norm for _, norm in backward]),
        "backward_loss": first_bad([loss for loss, _ in backward]),
        "where_loss": where_loss,
        "where_grad": where_grad,
        "safe_grad": gradient_through(lambda x: torch.where(x > 0, torch.where(x > 0, x, 1.0).log(), 0.0))[1],
    }
