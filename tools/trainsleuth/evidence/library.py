"""What is verified: the records as they stand in the files, the pages, the results, and the texts that are at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trainsleuth.content import content_root, read_evidence

GENERATED = frozenset({"refs/checks.md", "refs/probes.md"})
Record = Mapping[str, Any]


@dataclass(frozen=True)
class Library:
    """The lore as plain data.

    `pages` maps a path to its markdown. `experiments` maps the name of a script to what it says of each claim, and
    to whether every expectation came true; `scripts` are the names of the scripts that there are. `texts` maps the
    id of a source to its text, for those at hand.
    """

    claims: tuple[Record, ...]
    sources: tuple[Record, ...]
    pages: Mapping[str, str]
    experiments: Mapping[str, Mapping[str, str]]
    scripts: frozenset[str]
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def measured(self) -> Mapping[str, str]:
        """The sentence of the experiment for each claim."""
        return {claim: says for one in self.experiments.values() for claim, says in one.items()}


def installed(texts: Mapping[str, str] | None = None) -> Library:
    """The lore that this package carries."""
    root = content_root()
    pages = [root / "SKILL.md", root / "PLAYBOOK.md", *sorted((root / "refs").glob("*.md"))]
    results = read_evidence("experiments/results.json")["results"]
    return Library(
        claims=tuple(read_evidence("claims.yaml")),
        sources=tuple(read_evidence("sources.yaml")),
        pages={page.relative_to(root).as_posix(): page.read_text("utf-8") for page in pages},
        experiments={result["name"]: result["says"] for result in results},
        scripts=frozenset(path.stem for path in (root / "evidence" / "experiments").glob("*.py")),
        texts=texts or {},
    )
