"""Listener: lets the program fit one batch through its own loop.

Data are frozen (freeze.py); dropout, weight decay and the schedule are held off, because each of them
alone can keep a healthy model from reaching its floor. Train and eval flags stay as the program set them.
"""

from .backwards import LossValue
from .dropping import DROPOUTS
from .freeze import Freezer, storage

ENOUGH = 0.03  # of the first loss: clearly fitted, no need to go on
SEEN_ENOUGH = 8  # steps after which optimizers with losses of their own are taken as adversaries
MOST_ADAPTIVE_RATE = 0.1  # above it the constructor's rate is a factor for a schedule, not a rate


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.freezer = Freezer(bus.torch, bus)
        self.values, self.value = [], LossValue()
        self.first = None
        self.low = 0
        self.rates, self.held_off = {}, {}
        self.stepped = set()
        self.from_modules = True  # every loss of this step is the output of an outermost module
        hold_off_dropout(bus.torch)

    def batch(self, loader, batch):
        return self.freezer.batch(loader, batch)

    def forward_before(self, module, args, kwargs):
        if module.training and self.torch.is_grad_enabled():
            return self.freezer.call(module, args, kwargs)
        return None

    def forward_after(self, module, args, kwargs, output):
        self.freezer.called(output)

    def loss_before(self, name, arguments):
        names = list(arguments)
        target = arguments[names[1]]
        is_frozen = hasattr(target, "requires_grad") and not target.requires_grad
        if self.bus.depth or not is_frozen or not self.torch.is_grad_enabled():
            return None
        replaced = self.freezer.target(target)
        return None if replaced is None else {names[1]: replaced}

    def scaler(self, operation, scaler, given, result):
        self.value.scaler(operation, given, result)

    def backward_before(self, tensors, gradients):
        self.values.append(self.value.of(tensors))
        self.from_modules &= all(storage(t) in self.freezer.outputs for t in tensors)

    # -- weight decay and schedule ---------------------------------------------------------

    def optimizer_born(self, optimizer):
        self.rates[id(optimizer)] = [group.get("lr") for group in optimizer.param_groups]

    def step_before(self, optimizer):
        self.stepped.add(id(optimizer))
        born = self.rates.get(id(optimizer), [])
        self.held_off[id(optimizer)] = [(g.get("lr"), g.get("weight_decay")) for g in optimizer.param_groups]
        for place, group in enumerate(optimizer.param_groups):
            rate = group.get("initial_lr", born[place] if place < len(born) else group.get("lr"))
            if is_a_rate(rate, optimizer):
                group["lr"] = rate
            if isinstance(group.get("weight_decay"), float):
                group["weight_decay"] = 0.0

    def step_after(self, optimizer):
        for group, (rate, decay) in zip(optimizer.param_groups, self.held_off.pop(id(optimizer), ())):
            if rate is not None:
                group["lr"] = rate
            if decay is not None:
                group["weight_decay"] = decay

    # -- verdict material ------------------------------------------------------------------

    def boundary(self, step):
        met = dict(self.freezer.boundary(step), from_modules=self.from_modules, optimizers=len(self.stepped))
        loss = sum(self.values) / max(1, len(self.values))
        self.events("frozen", n=step, loss=loss, losses=self.values[-16:], replayed_targets=self.freezer.replayed_targets,
                    **met)  # fmt: skip
        is_adversarial = len(self.stepped) > 1 and len(self.values) > 1
        replayed_in_vain = met["mode"] == "replay" and not (self.from_modules or self.freezer.replayed_targets)
        if (is_adversarial and step >= SEEN_ENOUGH) or replayed_in_vain:
            self.bus.finish("no single curve can be frozen")
        self.values, self.stepped, self.from_modules = [], set(), True
        if met["mode"] in ("random", "replay"):
            self._stop_when_fitted(loss)

    def close(self, reason):
        self.events("modules", loaded=sorted(self.bus.sites.loaded()))

    def _stop_when_fitted(self, loss):
        if self.first is None:
            self.first = loss
        self.low = self.low + 1 if 0 <= loss < ENOUGH * self.first else 0
        if self.low >= 3:
            self.bus.finish("fitted")


def is_a_rate(rate, optimizer):
    """A positive number that can be meant as a learning rate for this optimizer."""
    if not isinstance(rate, (int, float)) or rate <= 0:
        return False
    is_adaptive = any("betas" in group for group in optimizer.param_groups)
    return rate <= MOST_ADAPTIVE_RATE or not is_adaptive


def hold_off_dropout(torch):
    functional = torch.nn.functional
    for name in DROPOUTS:
        setattr(functional, name, _without_dropout(getattr(functional, name)))
    attention = getattr(functional, "scaled_dot_product_attention", None)
    if attention is not None:
        functional.scaled_dot_product_attention = _attention_without_dropout(attention)


def _without_dropout(original):
    def dropout(input, p=0.5, training=True, inplace=False):
        return original(input, p, False, inplace)

    return dropout


def _attention_without_dropout(original):
    def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, *args, **kwargs):
        return original(query, key, value, attn_mask, 0.0, *args, **kwargs)

    return scaled_dot_product_attention
