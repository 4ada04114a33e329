"""A target of shape (N,) against predictions of shape (N,1): the model learns the mean, and only a warning is given."""

import warnings

import torch
from lab.task import fit, mlp
from torch.nn import functional as F

CLAIMS = {
    "shape-broadcast-loss": "loss {loss:.2f} of a variance of {variance:.2f}; standard deviation of the predictions "
    "{flat_std:.3f} against {right_std:.2f} in the right run"
}
EXPECT = {
    "the loss stays at the variance of the target": lambda m: abs(m["loss"] / m["variance"] - 1) < 0.05,
    "the predictions are all alike": lambda m: m["flat_std"] < 0.1 * m["right_std"],
    "the right run learns": lambda m: m["right_loss"] < 0.1 * m["variance"],
}


def measure(seed):
    x = torch.randn(256, 5, generator=torch.Generator().manual_seed(seed))
    y = x.sum(1)
    broadcast, right = mlp(seed, inputs=5, outputs=1), mlp(seed, inputs=5, outputs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the warning of torch is the point: this is what ignoring it gives
        wrong = fit(broadcast, x, y, seed=seed, steps=600, size=256, loss=F.mse_loss)
    good = fit(right, x, y[:, None], seed=seed, steps=600, size=256, loss=F.mse_loss)
    return {
        "loss": wrong[-1],
        "right_loss": good[-1],
        "variance": y.var().item(),
        "flat_std": broadcast(x).std().item(),
        "right_std": right(x).std().item(),
    }


def plot(axes):
    x = torch.randn(256, 5, generator=torch.Generator().manual_seed(0))
    y = x.sum(1)
    for name, target in (("(N,) against (N,1)", y), ("(N,1) against (N,1)", y[:, None])):
        net = mlp(0, inputs=5, outputs=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit(net, x, target, steps=600, size=256, loss=F.mse_loss)
        axes.plot(y, net(x).detach()[:, 0], ".", label=name)
    axes.set(xlabel="target", ylabel="prediction")
    axes.legend()
