"""The gradients of an optimizer: which they are, whether they are finite, and how to step without them.

Finite: one norm over all of them; element by element only when that is not finite.
"""

from .content import counts, is_finite
from .tensors import local


def members(optimizer):
    """All parameters that an optimizer holds."""
    return [p for group in optimizer.param_groups for p in group["params"]]


def of(optimizer):
    """The gradients that this optimizer is about to use."""
    return in_parameters(members(optimizer))


def in_parameters(parameters):
    return [_values(p.grad) for p in parameters if p.grad is not None]


def _values(gradient):
    return gradient._values() if gradient.is_sparse else local(gradient)


def total(torch, gradients):
    """A one-element tensor, finite only if all gradients are; no device is waited for. None without gradients.

    The norm of finite gradients can overflow: a total that is not finite proves nothing yet.
    """
    by_device = {}
    for gradient in gradients:
        by_device.setdefault((gradient.device, gradient.dtype), []).append(gradient)
    sums = [torch.stack(torch._foreach_norm(group)).sum().float() for group in by_device.values()]
    if not sums:
        return None
    return sums[0] if len(sums) == 1 else torch.stack([s.to(sums[0].device) for s in sums]).sum()


def are_finite(torch, gradients):
    norm = total(torch, gradients)
    return norm is None or bool(norm.isfinite()) or all(is_finite(g) for g in gradients)


def worst(gradients):
    """ "nan" when any gradient holds one, else "inf"."""
    return "nan" if any("nan" in counts(g) for g in gradients) else "inf"


class LateReader:
    """Reads a device's number one step later, so that nobody waits for the device."""

    def __init__(self, torch):
        self.torch, self.waiting = torch, None

    def swap(self, number):
        """Hands in this step's total; returns whether the one of the step before was finite."""
        before, self.waiting = self.waiting, self._sent(number)
        if before is None:
            return True
        value, event = before
        if event is not None:
            event.synchronize()
        return bool(value.isfinite())

    def _sent(self, number):
        if number is None or number.device.type != "cuda":
            return None if number is None else (number, None)
        copy = self.torch.empty_like(number, device="cpu", pin_memory=True)
        copy.copy_(number, non_blocking=True)
        event = self.torch.cuda.Event()
        event.record()
        return copy, event


class Hidden:
    """Takes the gradients of an optimizer away for one step, which then changes nothing."""

    def __init__(self):
        self.kept = []

    def hide(self, optimizer):
        self.kept = [(p, p.grad) for p in members(optimizer) if p.grad is not None]
        for parameter, _ in self.kept:
            parameter.grad = None

    def give_back(self):
        kept, self.kept = self.kept, []
        for parameter, gradient in kept:
            parameter.grad = gradient
