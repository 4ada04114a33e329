"""The surface as a picture: height as colour, the way down as arrows."""

from __future__ import annotations

from pathlib import Path

from trainsleuth.loss_surface.surface import Surface, SurfaceError


def draw(surface: Surface, file: Path) -> None:
    """Writes `file`, in the format of its ending. Raises SurfaceError where matplotlib is missing."""
    try:
        import matplotlib
    except ImportError as error:
        raise SurfaceError("a picture needs matplotlib: pip install 'trainsleuth[plots]'") from error
    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 5), layout="constrained")
    names = [f"prediction[{place}]" for place in surface.ask.axes]
    if len(surface.ask.axes) == 1:
        axes.plot(surface.ticks, [point.value for point in surface.points], label="loss")
        axes.plot(surface.ticks, [point.gradient[0] for point in surface.points], label="gradient", linestyle=":")
        axes.set(xlabel=names[0])
        axes.legend()
    else:
        _plane(surface, figure, axes, names)
    axes.set_title(surface.ask.loss)
    figure.savefig(file)
    pyplot.close(figure)


def _plane(surface: Surface, figure: object, axes: object, names: list[str]) -> None:
    size = len(surface.ticks)
    rows = [surface.points[start : start + size] for start in range(0, len(surface.points), size)]
    height = axes.contourf(surface.ticks, surface.ticks, [[p.value for p in row] for row in rows], levels=24)  # type: ignore[attr-defined]
    figure.colorbar(height, label="loss")  # type: ignore[attr-defined]
    every = max(1, size // 14)
    few = [point for row in rows[::every] for point in row[::every] if point.is_finite]
    places = [[point.at[axis] for point in few] for axis in (0, 1)]
    down = [[-point.gradient[axis] for point in few] for axis in (0, 1)]
    axes.quiver(*places, *down, color="white", width=0.003)  # type: ignore[attr-defined]
    axes.set(xlabel=names[0], ylabel=names[1])  # type: ignore[attr-defined]
