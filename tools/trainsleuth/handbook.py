"""Pages that are generated: refs/checks.md and refs/probes.md from docstrings, evidence/CLAIMS.md from the claims.

python -m trainsleuth.handbook refs [evidence]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from trainsleuth import checks, lore, probes

GENERATED = "Generated from the docstrings by `python -m trainsleuth.handbook refs`; edit those instead."


def pages() -> Iterator[tuple[str, str]]:
    """(file name, content) of each generated page."""
    yield "checks.md", _page("Checks", "A check is a static search for one silent bug.", _checks())
    yield "probes.md", _page("Probes", "A probe puts one question to the running program.", _probes())


def claims_page() -> str:
    """evidence/CLAIMS.md: every claim by topic, with strength, figures, dissent, and links to the words of its sources."""
    by_topic: dict[str, list[lore.Claim]] = {}
    for claim in lore.claims().values():
        by_topic.setdefault(claim.topic, []).append(claim)
    lines = ["# Claims", "", "Generated from claims.yaml by `make evidence`; edit that instead.", ""]
    lines += [f"- [{topic}](#{topic}): {len(claims)}" for topic, claims in by_topic.items()]
    for topic, claims in by_topic.items():
        lines += ["", f"## {topic}", *(line for claim in claims for line in _claim(claim))]
    return "\n".join(lines) + "\n"


def _claim(claim: lore.Claim) -> Iterator[str]:
    yield from ("", f"### {claim.id}", "", f"{claim.text} *({claim.strength})*", "")
    if claim.measured:
        yield f"- measured ([{claim.experiment}](experiments/{claim.experiment}.py)): {claim.measured}"
    if claim.recounted:
        yield f"- recounted: {claim.recounted}"
    if claim.contested:
        yield f"- contested: {claim.contested}"
    for cited in claim.sources:
        if cited.source.id != "own-measure":
            yield f"- [{cited.source.title}]({cited.url}), {cited.source.authors}, {cited.source.year}: {cited.where}"


def _page(title: str, lead: str, sections: Iterator[str]) -> str:
    return "\n\n".join([f"# {title}", lead, GENERATED, *sections]) + "\n"


def _checks() -> Iterator[str]:
    for check_id in checks.check_ids():
        told = checks.explain(check_id)
        yield f"## {check_id}\n\n{told.severity}, {told.family}. {told.record}\n\n{_fenced(told.text)}"


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
    if len(sys.argv) > 2:
        (Path(sys.argv[2]) / "CLAIMS.md").write_text(claims_page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
