"""The pictures of the experiments that have one, as small SVG files that come out the same each time."""

from __future__ import annotations

from lab.experiment import load
from lab.page import FIGURES


def draw(name: str) -> bool:
    """Whether the experiment has a picture; needs matplotlib."""
    script = load(name)
    if not hasattr(script, "plot"):
        return False
    import matplotlib
    import torch

    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {"svg.hashsalt": name, "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    )
    from matplotlib import pyplot

    torch.set_num_threads(1)
    figure, axes = pyplot.subplots(figsize=(5, 3), layout="constrained")
    script.plot(axes)
    FIGURES.mkdir(exist_ok=True)
    figure.savefig(FIGURES / f"{name}.svg", metadata={"Date": None})
    pyplot.close(figure)
    return True
