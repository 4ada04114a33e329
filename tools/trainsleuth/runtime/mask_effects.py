"""What a mask of padding that was left out would change: one call in evaluation mode without it, with it, and with a mask that hides nothing.

Outputs count where something real stands, and whole rows: what comes out at padding may move. One that does not move makes the mask of
its tokens itself, or never looks behind a place. With a mask that hides nothing only rounding may differ.
"""

from .freeze import copied
from .replay import alone
from .trials import Again


def measured(torch, sites, one, until):
    """{"effect", "ones", "eps"}; no effect is told where no output belongs to rows or places."""
    mask, args, kwargs, autocast = one.last
    args, kwargs = copied((args, kwargs))
    model = alone(one.module)
    model.eval()
    device = next(t for t in (*args, *kwargs.values()) if hasattr(t, "grad_fn")).device
    real, hides = mask.real.to(device), mask.tensor.to(device)
    nothing = torch.full_like(hides, 1) if bool((hides.bool() == real).all()) else torch.zeros_like(hides)

    def outputs(given=None):
        changed = (args, kwargs) if given is None else with_mask(one, args, kwargs, given)
        return places(Again(torch, sites, model, *changed, hides, autocast, until).outputs(), real)

    plain, masked, ones = outputs(), outputs(hides), outputs(nothing)
    if not plain or len(plain) != len(masked) or len(plain) != len(ones):
        return {"effect": None}
    return {
        "effect": farthest(plain, masked), "ones": farthest(plain, ones),
        "eps": max(float(torch.finfo(t.dtype).eps) for t in plain),
    }  # fmt: skip


def with_mask(one, args, kwargs, given):
    if len(args) > one.place:
        return (*args[: one.place], given, *args[one.place + 1 :]), kwargs
    return args, dict(kwargs, **{one.name: given})


def places(outputs, real):
    """What belongs to rows, and to the real places of sequences (all of them, or all but the last)."""
    rows, length = real.shape
    found = []
    for output in outputs:
        if output.dim() in (2, 3) and output.shape[0] == rows:
            if output.shape[1] in (length, length - 1):
                found.append(output[real[:, : output.shape[1]]])
            elif output.dim() == 2:
                found.append(output)
    return [one for one in found if one.numel()]


def farthest(one, other):
    """The largest difference of an output, as a share of its largest value."""
    pairs = [(a.float(), b.float()) for a, b in zip(one, other)]
    return max(float((a - b).abs().max() / a.abs().max().clamp_min(1e-12)) for a, b in pairs)
