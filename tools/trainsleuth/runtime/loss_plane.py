"""Values and gradients of one loss over a plane of synthetic predictions, printed as JSON in lines that begin with MARK.

Runs in the user's interpreter: standard library and torch only. argv: one JSON object, see `main`.
"""

import importlib
import importlib.util
import json
import math
import os
import sys

MARK = "trainsleuth-loss-plane: "
PIECE = 1000  # characters of a line; longer ones are cut on their way


def load(place):
    """The object behind FILE.py:NAME or MODULE:NAME; a class is made without arguments."""
    where, _, name = place.rpartition(":")
    if where.endswith(".py"):
        sys.path[0] = os.path.dirname(os.path.abspath(where))
        spec = importlib.util.spec_from_file_location(os.path.basename(where)[:-3], where)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    else:
        sys.path[0] = os.getcwd()
        module = importlib.import_module(where)
    found = module
    for part in name.split("."):
        found = getattr(found, part)
    return found() if isinstance(found, type) else found


def evaluate(torch, loss, target, flat, shape):
    """Value and gradient at one prediction, both nan where the loss is not finite or has no graph."""
    prediction = flat.clone().reshape(shape).requires_grad_()
    value = loss(prediction, target).sum()
    if value.requires_grad and math.isfinite(value.item()):
        value.backward()
    gradient = prediction.grad
    return value.item(), torch.zeros_like(flat) if gradient is None else gradient.flatten()


def slope(torch, loss, target, flat, shape, axis, width):
    """The derivative along one axis by central differences."""
    with torch.no_grad():
        step = torch.zeros_like(flat)
        step[axis] = width
        after, before = (loss((flat + sign * step).reshape(shape), target).sum().item() for sign in (1, -1))
    return (after - before) / (2 * width)


def plane(torch, asked):
    loss, shape = load(asked["loss"]), asked["shape"]
    names = {name: getattr(torch, name) for name in ("tensor", "zeros", "ones", "full", "arange", "rand", "randn")}
    torch.manual_seed(0)
    prediction = torch.zeros(shape, dtype=torch.float64)
    target = eval(asked["target"], {"torch": torch, "math": math, "prediction": prediction, **names})
    count, axes = asked["points"], asked["axes"]
    ticks = torch.linspace(asked["low"], asked["high"], count, dtype=torch.float64)
    rows = []
    for up in ticks if len(axes) > 1 else ticks[:1]:
        for right in ticks:
            flat = prediction.flatten().clone()
            flat[axes[0]] = right
            if len(axes) > 1:
                flat[axes[1]] = up
            value, gradient = evaluate(torch, loss, target, flat, shape)
            numeric = [slope(torch, loss, target, flat, shape, axis, 1e-5) for axis in axes]
            rows.append([value, [gradient[axis].item() for axis in axes], numeric])
    return {"ticks": ticks.tolist(), "rows": rows}


def main():
    """argv[1]: {"loss", "shape", "target", "axes", "low", "high", "points"}."""
    import torch

    torch.set_num_threads(1)
    told = json.dumps(plane(torch, json.loads(sys.argv[1])))
    for start in range(0, len(told), PIECE):
        print(MARK + told[start : start + PIECE])


if __name__ == "__main__":
    main()
