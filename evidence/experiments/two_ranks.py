"""Two ranks, simulated: clipping before the average gives another gradient, and skipping alone drives them apart."""

import torch
from lab.task import flat, gradient, linear_teacher, mlp
from torch.nn import functional as F

CLAIMS = {
    "clip-local-before-sync": "two ranks with gradients of unlike size: clipped on each rank before the average the step is "
    "{shorter:.0%} of the right length and turned by {degrees:.0f} degrees",
    "bypass-ddp-wrapper": "50 steps without averaging: the weights of two ranks differ by {apart:.0%} of their norm, with averaging by "
    "{together:.0%}; both losses fall, to {apart_loss:.2f} and {together_loss:.2f}",
    "bloom-silent-divergence": "clipped on one rank only: {uneven:.1%} apart after 50 steps at a loss of {uneven_loss:.2f}",
}
EXPECT = {
    "clipping first shortens the step": lambda m: m["shorter"] < 0.9,
    "and turns it": lambda m: m["degrees"] > 5,
    "without averaging the ranks part": lambda m: m["apart"] > 0.05,
    "with it they do not": lambda m: m["together"] == 0,
    "the loss does not show uneven clipping": lambda m: abs(m["uneven_loss"] / m["together_loss"] - 1) < 0.15,
    "the weights do": lambda m: m["uneven"] > 0.001,
}


def clip(vector, limit=1.0):
    return vector * min(1.0, limit / vector.norm().item())


def gradient_of(net, x, y):
    net.zero_grad()
    F.cross_entropy(net(x), y).backward()
    return gradient(net)


def angle(seed):
    task, net = linear_teacher(seed), mlp(seed)
    one, two = gradient_of(net, 4 * task.x[:32], task.y[:32]), gradient_of(net, task.x[32:64], task.y[32:64])
    first, last = (clip(one, 0.5) + clip(two, 0.5)) / 2, clip((one + two) / 2, 0.5)
    cosine = torch.dot(first, last) / (first.norm() * last.norm())
    return (first.norm() / last.norm()).item(), cosine.clamp(max=1).arccos().rad2deg().item()


def two_ranks(seed, averaged, clipped):
    """Distance of the weights of both ranks after 50 steps, over their norm, and the mean loss of the last ten."""
    task, nets, losses = linear_teacher(seed), (mlp(seed), mlp(seed)), []
    for at in range(50):
        rows = torch.randint(512, (2, 32), generator=torch.Generator().manual_seed(at))
        grads = [gradient_of(net, task.x[r], task.y[r]) for net, r in zip(nets, rows, strict=True)]
        losses.append(F.cross_entropy(nets[0](task.x), task.y).item())
        if averaged:
            grads = [sum(grads) / 2] * 2
        grads = [clip(one, limit) for one, limit in zip(grads, clipped, strict=True)]
        for net, one in zip(nets, grads, strict=True):
            torch.nn.utils.vector_to_parameters(flat(net) - 0.5 * one, net.parameters())
    apart = (flat(nets[0]) - flat(nets[1])).norm() / flat(nets[0]).norm()
    return apart.item(), sum(losses[-10:]) / 10


def measure(seed):
    shorter, degrees = angle(seed)
    apart, apart_loss = two_ranks(seed, False, (9.0, 9.0))
    together, together_loss = two_ranks(seed, True, (9.0, 9.0))
    uneven, uneven_loss = two_ranks(seed, True, (0.65, 9.0))
    return {
        "shorter": shorter, "degrees": degrees, "apart": apart, "apart_loss": apart_loss, "together": together,
        "together_loss": together_loss, "uneven": uneven, "uneven_loss": uneven_loss,
    }  # fmt: skip
