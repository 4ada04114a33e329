"""Settings that do nothing, or more than they seem: a bias before batch norm, epsilon, a penalty that is not connected."""

import torch
from lab.task import flat, linear_teacher, mlp
from torch import nn
from torch.nn import functional as F

CLAIMS = {
    "bias-before-batchnorm": "gradient of a bias in front of batch norm: {bias:.0e} of the gradient of its weights",
    "regularisation-raises-loss": "first loss with a weight penalty of 0, 1e-3 and 1e-1: {penalty_0:.2f}, {penalty_3:.2f} and "
    "{penalty_1:.2f}",
    "adam-epsilon-matters": "gradients of 1e-6, 100 steps at 1e-3: the weight moves by {small_eps:.3f} with an epsilon of 1e-8 and by "
    "{large_eps:.3f} with 1e-4",
    "keep-history-memory-leak": "100 losses added as tensors keep {kept:.0f} graph nodes alive, added as numbers {freed:.0f}",
    "grpo-zero-std": "advantages of a group with equal rewards: largest {group:.0f}",
    "lora-b-starts-at-zero": "a LoRA adapter at its first step: the output changes by {lora:.0f}, the gradient of A is {lora_a:.0f} and of B "
    "{lora_b:.1e}; with both at zero neither has one ({lora_dead:.0f})",
}
EXPECT = {
    "the bias has no gradient": lambda m: m["bias"] < 1e-5,
    "the penalty raises the first loss": lambda m: m["penalty_0"] < m["penalty_3"] < m["penalty_1"],
    "a large epsilon stops the weight": lambda m: m["large_eps"] < 0.2 * m["small_eps"],
    "tensors keep their graphs": lambda m: m["kept"] > 100 and m["freed"] == 0,
    "equal rewards give no advantage": lambda m: m["group"] == 0,
    "only B of a fresh adapter learns": lambda m: m["lora"] == 0 == m["lora_a"] and m["lora_b"] > 0,
    "with both at zero nothing learns": lambda m: m["lora_dead"] == 0,
}


def bias_share(seed):
    task = linear_teacher(seed)
    torch.manual_seed(seed)
    first = nn.Linear(20, 64)
    F.cross_entropy(nn.Sequential(first, nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 10))(task.x), task.y).backward()
    return (first.bias.grad.norm() / first.weight.grad.norm()).item()


def moved(epsilon):
    weight = torch.zeros(1, requires_grad=True)
    step = torch.optim.Adam([weight], lr=1e-3, eps=epsilon)
    for _ in range(100):
        weight.grad = torch.tensor([1e-6])
        step.step()
    return -weight.item()


def nodes(loss):
    """Graph nodes reachable from a loss; a number has none."""
    seen, todo = set(), [getattr(loss, "grad_fn", None)]
    while todo:
        node = todo.pop()
        if node is not None and node not in seen:
            seen.add(node)
            todo += [parent for parent, _ in node.next_functions]
    return len(seen)


def adapter(seed, b_std=0.0, a_std=1.0):
    torch.manual_seed(seed)
    x, base = torch.randn(8, 16), nn.Linear(16, 16)
    a, b = (std * torch.randn(shape) for std, shape in ((a_std, (4, 16)), (b_std, (16, 4))))
    a.requires_grad_(), b.requires_grad_()
    out = base(x) + x @ a.T @ b.T
    out.pow(2).mean().backward()
    return (out - base(x)).abs().max().item(), a.grad.norm().item(), b.grad.norm().item()


def measure(seed):
    task, net = linear_teacher(seed), mlp(seed)
    loss = F.cross_entropy(net(task.x), task.y)
    weights = flat(net).pow(2).sum()
    as_tensor = sum(F.cross_entropy(net(task.x[:8]), task.y[:8]) for _ in range(100))
    as_number = sum(F.cross_entropy(net(task.x[:8]), task.y[:8]).item() for _ in range(100))
    rewards = torch.full((8,), 0.5)
    lora, lora_a, lora_b = adapter(seed)
    return {
        "bias": bias_share(seed),
        **{f"penalty_{k}": (loss + strength * weights).item() for k, strength in (("0", 0), ("3", 1e-3), ("1", 0.1))},
        "small_eps": moved(1e-8), "large_eps": moved(1e-4),
        "kept": nodes(as_tensor), "freed": nodes(as_number),
        "group": ((rewards - rewards.mean()) / (rewards.std() + 1e-4)).abs().max().item(),
        "lora": lora, "lora_a": lora_a, "lora_b": lora_b, "lora_dead": max(adapter(seed, a_std=0.0)[1:]),
    }  # fmt: skip
