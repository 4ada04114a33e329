"""A numeric gradient check needs double precision, and a kink explains some of its failures."""

import torch

CLAIMS = {
    "gradcheck-double": "relative error of a correct gradient: {single:.0e} in single precision, {double:.0e} in double",
    "gradcheck-relative-error": "a wrong sign gives a relative error of {sign:.1f}, a missing factor of 2 gives {factor:.2f}, a correct "
    "gradient in double precision {double:.0e}",
}
EXPECT = {
    "double precision is at least 1,000 times closer": lambda m: m["single"] > 1000 * m["double"],
    "double precision is below 1e-7": lambda m: m["double"] < 1e-7,
    "a mistake is above 1e-2": lambda m: min(m["sign"], m["factor"]) > 1e-2,
}


def error(seed, dtype, step, spoil=lambda gradient: gradient):
    torch.manual_seed(seed)
    weights = torch.randn(8, 8, dtype=dtype)
    x = torch.randn(8, dtype=dtype, requires_grad=True)

    def loss(at):
        return (weights @ at).tanh().pow(2).sum()

    loss(x).backward()
    analytic, numeric = spoil(x.grad), torch.zeros_like(x)
    with torch.no_grad():
        for place in range(8):
            shift = torch.zeros_like(x).index_fill_(0, torch.tensor([place]), step)
            numeric[place] = (loss(x + shift) - loss(x - shift)) / (2 * step)
    return ((analytic - numeric).norm() / torch.maximum(analytic.norm(), numeric.norm())).item()


def measure(seed):
    return {
        "single": error(seed, torch.float32, 1e-5),
        "double": error(seed, torch.float64, 1e-5),
        "sign": error(seed, torch.float64, 1e-5, lambda gradient: -gradient),
        "factor": error(seed, torch.float64, 1e-5, lambda gradient: gradient / 2),
    }
