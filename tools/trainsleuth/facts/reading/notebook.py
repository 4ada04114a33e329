"""Code cells of a Jupyter notebook as one source, with a way back to the cell."""

from __future__ import annotations

import json
from collections.abc import Iterator

_KEPT_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun")


def join_cells(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Python of all code cells, and (first line in it, number of the cell from 1) for each.

    Lines that are not Python (magics, shell commands) become blank, so lines in a cell keep their numbers.
    Raises ValueError when the text is not a notebook.
    """
    try:
        cells = json.loads(text)["cells"]
        sources = [(number, _source(cell)) for number, cell in enumerate(cells, 1) if cell.get("cell_type") == "code"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a notebook with a list of cells ({type(error).__name__}: {error})") from error
    lines: list[str] = []
    anchors: list[tuple[int, int]] = []
    for number, source in sources:
        anchors.append((len(lines) + 1, number))
        lines.extend(_python_lines(source))
    return "\n".join(lines) + "\n", tuple(anchors)


def _source(cell: dict[str, object]) -> str:
    source = cell.get("source", "")
    return "".join(str(line) for line in source) if isinstance(source, list) else str(source)


def _python_lines(source: str) -> Iterator[str]:
    lines = source.split("\n")
    if lines[0].startswith("%%") and not lines[0].startswith(_KEPT_MAGICS):
        yield from ("" for _ in lines)  # a cell in another language
        return
    for line in lines:
        stripped = line.lstrip()
        goes_on = stripped.startswith("%(")  # the line above: print("loss %.2f"\n %(loss))
        is_command = stripped.startswith(("%", "!")) or (stripped.endswith("?") and not stripped.startswith("#"))
        yield "" if is_command and not goes_on else line
