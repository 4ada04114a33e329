"""A view where a transpose was meant keeps the shape and mixes the examples of a batch; the gradient shows it."""

import torch

CLAIMS = {
    "view-vs-permute": "output of one example depends on {view:.0f} of 4 examples with view, on {transpose:.0f} with transpose",
}
EXPECT = {
    "view mixes examples": lambda m: m["view"] > 1,
    "transpose does not": lambda m: m["transpose"] == 1,
}


def reached(seed, rearrange):
    """How many examples the output of example 1 depends on."""
    x = torch.randn(4, 6, 5, generator=torch.Generator().manual_seed(seed), requires_grad=True)  # batch, time, features
    rearrange(x.transpose(0, 1)).tanh()[1].sum().backward()  # what comes in is time first
    return int((x.grad.flatten(1).abs().sum(1) > 0).sum())


def measure(seed):
    return {
        "view": reached(seed, lambda time_first: time_first.reshape(4, 6, 5)),
        "transpose": reached(seed, lambda time_first: time_first.transpose(0, 1)),
    }
