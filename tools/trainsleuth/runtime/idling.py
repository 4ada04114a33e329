"""Optimizer steps that nothing was computed for, before the first backward: a schedule that is plotted, a state that is filled.

They are no training: what they and their schedules do is told to nobody, and no step of theirs is counted.
"""

from .gradients import members


class Idling:
    def __init__(self, torch):
        self.torch = torch
        self.over = False  # gradients were computed once: from then on every step is one
        self.computed = False  # a module in training mode, since the last step
        self.idle = {}  # id -> optimizer, kept so that the id stays its own
        self.steps = 0

    def passes_over(self, moment, details):
        if moment in ("backward_before", "autograd_grad"):
            self.over = True
        elif moment == "forward_before":
            self.computed = self.computed or (details[0].training and self.torch.is_grad_enabled())
        elif moment == "step_before":
            self._judge(details[0])
        elif moment == "step_after":
            self.computed = False
        return id(_owner(moment, details)) in self.idle

    def _judge(self, optimizer):
        if self.computed or any(p.grad is not None for p in members(optimizer)):
            self.idle.pop(id(optimizer), None)
        else:
            self.idle[id(optimizer)] = optimizer
            self.steps += 1


def _owner(moment, details):
    if moment in ("step_before", "step_after", "zero_grad"):
        return details[0]
    return getattr(details[0], "optimizer", None) if moment == "schedule" else None
