"""How much arithmetic one forward is, and how fast this device does it at best."""

import time

SIDE = {"cpu": 512, "cuda": 4096}  # of the square matrices whose product stands for the best case


def measured(torch, again, tensor):
    """{"flops" of one forward, "peak" FLOP/s of a large matrix product}; {} where torch cannot count (before 2.1)."""
    try:
        from torch.utils.flop_counter import FlopCounterMode

        with FlopCounterMode(display=False) as counter:
            again.outputs()
        return {"flops": counter.get_total_flops(), "peak": _peak(torch, tensor.device)}
    except Exception:  # an operation that cannot be counted: the question is not worth more
        return {}


def _peak(torch, device):
    side = SIDE.get(device.type)
    if side is None:
        return None
    one, times = torch.ones(side, side, device=device), []
    for _ in range(4):
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        began = time.perf_counter()
        one @ one
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        times.append(time.perf_counter() - began)
    return 2 * side**3 / min(times)
