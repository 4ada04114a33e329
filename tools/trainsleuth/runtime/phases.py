"""Listener: in which mode each outermost module is called, and what follows: training, evaluation, or neither.

A phase lasts while a module is called with the same flags on batches of the same loader. One event per phase.
"""

MOST_TOLD = 300
MOST_NAMES = 6


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.phases, self.loader = {}, None
        self.told = 0

    def batch(self, loader, batch):
        self.loader = self.bus.number("loader", loader)

    def forward_before(self, module, args, kwargs):
        root = self.bus.number("root", module)
        key = (module.training, self.torch.is_grad_enabled(), self.loader)
        phase = self.phases.get(root)
        if phase is None or phase["key"] != key:
            self._end(root)
            user, library = self.bus.sites.here()
            phase = self.phases[root] = dict(
                key=key, root=root, cls=type(module).__name__, training=key[0], grad=key[1], loader=key[2], site=user,
                lib=library, n=self.bus.steps, until=self.bus.steps, calls=0, backwards=0, waiting=False, **flags(self.torch, module)
            )  # fmt: skip
        phase["calls"] += 1
        phase["until"] = self.bus.steps
        phase["waiting"] = key[1]

    def backward_before(self, tensors, gradients):
        for phase in self.phases.values():
            phase["backwards"] += phase["waiting"]
            phase["waiting"] = False

    def _end(self, root):
        phase = self.phases.pop(root, None)
        if phase is not None and self.told < MOST_TOLD:
            self.told += 1
            self.events("phase", **{name: value for name, value in phase.items() if name not in ("key", "waiting")})

    def close(self, reason):
        for root in list(self.phases):
            self._end(root)


def flags(torch, module):
    """Layers that behave differently in the two modes, and modules whose flag is not that of the whole."""
    random = norms = 0
    other = []
    for name, one in module.named_modules():
        if isinstance(one, torch.nn.modules.dropout._DropoutNd):
            random += one.p > 0
        elif isinstance(one, torch.nn.modules.batchnorm._BatchNorm):
            norms += one.track_running_stats
        elif isinstance(one, (torch.nn.MultiheadAttention, torch.nn.RNNBase)):
            random += one.dropout > 0
        if one.training != module.training:
            other.append(name)
    return {"dropouts": random, "norms": norms, "other_flag": len(other), "other_names": other[:MOST_NAMES]}
