"""refs/checks.md and refs/probes.md, written from the documentation of the checks and probes themselves.

python -m trainsleuth.handbook refs
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from trainsleuth import checks, probes

GENERATED = "Generated from the docstrings by `python -m trainsleuth.handbook refs`; edit those instead."


def pages() -> Iterator[tuple[str, str]]:
    """(file name, content) of each generated page."""
    yield "checks.md", _page("Checks", "A check is a static search for one silent bug.", _checks())
    yield "probes.md", _page("Probes", "A probe puts one question to the running program.", _probes())


def _page(title: str, lead: str, sections: Iterator[str]) -> str:
    return "\n\n".join([f"# {title}", lead, GENERATED, *sections]) + "\n"


def _checks() -> Iterator[str]:
    for check_id in checks.check_ids():
        told = checks.explain(check_id)
        yield f"## {check_id}\n\n{told.severity}, {told.family}\n\n{_fenced(told.text)}"


def _probes() -> Iterator[str]:
    for name in probes.all_probes():
        yield f"## {name}\n\n{probes.explain(name)}"


def _fenced(text: str) -> str:
    """Indented examples as fenced Python, each under its own line Bad or Good."""
    lines: list[str] = []
    inside = False
    for line in text.rstrip().splitlines():
        is_code = line.startswith("    ") or (inside and not line)
        if is_code and not inside:
            lines += ["", "```python"]
        if inside and not is_code:
            lines += _closed(lines)
        inside = is_code
        lines.append(line.removeprefix("    ") if is_code else line)
    return "\n".join(lines + (_closed(lines) if inside else []))


def _closed(lines: list[str]) -> list[str]:
    """The end of a code block; blank lines that trail it go behind the fence."""
    while lines and not lines[-1]:
        lines.pop()
    return ["```", ""]


def main() -> int:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "refs")
    for name, content in pages():
        (folder / name).write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
