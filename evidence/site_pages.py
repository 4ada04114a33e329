"""Hooks of the site: the pages as they lie in the repository, with each claim id as a link to its claim."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    "README.md", "SKILL.md", "PLAYBOOK.md", "CHANGELOG.md", "LICENSE", "hosts/*.*", "refs/*.md",
    "evidence/*.md", "evidence/figures/*", "evidence/experiments/*.py",
)  # fmt: skip
_ID = re.compile(r"(?<![\]\w`])\[([a-z0-9]+(?:-[a-z0-9]+)+)\](?![(\[:])")
_HEADING = re.compile(r"(?m)^### (\S+)$")


def on_config(config: Any) -> Any:
    """Copies the pages to a folder of their own: the generator wants one that holds nothing else."""
    source = ROOT / "site_source"
    shutil.rmtree(source, ignore_errors=True)
    for pattern in PAGES:
        for page in ROOT.glob(pattern):
            target = source / page.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(page, target)
    config["docs_dir"] = str(source)
    return config


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links [claim-id] to its place on the page of claims; ids that are no claims stay as they are."""
    known = set(_HEADING.findall((ROOT / "evidence" / "CLAIMS.md").read_text("utf-8")))
    here = page.file.src_uri
    up = "../" * here.count("/")
    parts = re.split(r"(?ms)(^```.*?^```)", markdown)
    linked = [part if part.startswith("```") else _ID.sub(lambda id: _link(id, known, up), part) for part in parts]
    return "".join(linked)


def _link(id: re.Match[str], known: set[str], up: str) -> str:
    return f"[{id[1]}]({up}evidence/CLAIMS.md#{id[1]})" if id[1] in known else id[0]
