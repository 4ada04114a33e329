"""What the markdown says is backed, findable and the same everywhere."""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path

import pytest
import trainsleuth
import yaml
from trainsleuth import checks, content, handbook, lore, probes
from trainsleuth.likelihoods import table

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), *ROOT.glob("refs/*.md"), *ROOT.glob("evidence/*.md")]
    if path.name != "trainsleuth-notes.md"
)
STRENGTHS = {"measured by us", "measured study", "expert consensus", "single expert", "lore"}
SKILL_FIELDS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def prose(page: Path) -> str:
    """The page without its code."""
    fenced = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", fenced.sub("", page.read_text("utf-8")))


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ +(.+?) *$", prose(page), re.MULTILINE)
    return {content._slug(heading) for heading in headings}


def frontmatter() -> dict[str, object]:
    fields: dict[str, object] = yaml.safe_load((ROOT / "SKILL.md").read_text("utf-8").split("---\n")[1])
    return fields


@pages
def test_every_cited_claim_exists(page: Path) -> None:
    cited = set(content._CITED.findall(prose(page)))
    assert cited <= set(lore.claims())


@pages
def test_relative_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target


@pages
def test_commands_name_tests_that_exist(page: Path) -> None:
    known = {*checks.check_ids(), *probes.all_probes()}
    assert set(re.findall(r"--only ([\w-]+)", page.read_text("utf-8"))) <= known


def test_playbook_and_refs_rest_on_the_lore() -> None:
    for page in ("PLAYBOOK.md", "refs/diagnostics.md", "refs/reading.md"):
        assert len(set(content._CITED.findall((ROOT / page).read_text("utf-8")))) >= 12, page


@pytest.mark.parametrize("claim", lore.claims().values(), ids=lambda claim: claim.id)
def test_a_claim_has_a_source_or_a_measurement(claim: lore.Claim) -> None:
    assert claim.strength in STRENGTHS
    assert any(cited.anchor or cited.source.id == "own-measure" for cited in claim.sources)
    assert bool(claim.measured) >= (claim.strength == "measured by us")
    for cited in claim.sources:
        assert len(cited.anchor.split()) <= 7
        assert cited.seen in {"text", "excerpt", "no", ""}
        assert bool(cited.anchor) == (cited.seen in {"text", "excerpt"})
    assert claim.text.endswith((".", "?"))


def test_no_id_is_used_twice() -> None:
    for name in ("claims", "sources"):
        plain = (ROOT / "evidence" / f"{name}.yaml").read_text("utf-8")
        ids = re.findall(r"^- id: (\S+)$", plain, re.MULTILINE)
        assert len(ids) == len(set(ids)) == len(getattr(lore, name)())


def test_every_source_is_cited_and_says_how_much_was_read() -> None:
    cited = {one.source.id for claim in lore.claims().values() for one in claim.sources}
    assert cited == set(lore.sources())
    assert {source.read for source in lore.sources().values()} <= {"full text", "in part", "not read"}


def test_contested_claims_that_the_skill_uses_say_so_somewhere() -> None:
    assert lore.claim("priors-are-not-frequencies").contested
    assert sum(bool(claim.contested) for claim in lore.claims().values()) >= 50


def test_the_skill_keeps_to_its_format() -> None:
    text = (ROOT / "SKILL.md").read_text("utf-8")
    fields = frontmatter()
    assert set(fields) <= SKILL_FIELDS
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", str(fields["name"]))
    assert re.search(r'^description: "', text, re.MULTILINE)
    assert str(fields["description"]).startswith("Use when ")
    assert len(str(fields["description"])) <= 1024
    assert len(str(fields["compatibility"])) <= 500
    assert len(text.split()) < 2000
    assert len(text.splitlines()) < 500


def test_names_and_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    plugin = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text("utf-8"))
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text("utf-8"))
    fields = frontmatter()
    metadata = fields["metadata"]
    assert isinstance(metadata, dict)
    names = {project["name"], plugin["name"], market["name"], market["plugins"][0]["name"], fields["name"]}
    assert names == {"trainsleuth"} == set(plugin["mcpServers"])
    versions = {project["version"], plugin["version"], metadata["version"], trainsleuth.__version__}
    assert len(versions) == 1
    assert f"## {trainsleuth.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert project["description"] == plugin["description"]
    assert plugin["mcpServers"]["trainsleuth"]["args"][-1] in project["scripts"]


def test_everything_the_lore_reads_is_packaged() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    packaged = build["targets"]["wheel"]["force-include"]
    for name in ("SKILL.md", "PLAYBOOK.md", "refs", "evidence"):
        assert packaged[name] == f"trainsleuth/_content/{name}"
        assert (content.content_root() / name).exists()


def test_the_signature_numbers_are_right() -> None:
    playbook = (ROOT / "PLAYBOOK.md").read_text("utf-8")
    rows = re.findall(r"^\| ([\d,]+) \| ([\d.]+) \| ([\d.]+) \|$", playbook, re.MULTILINE)
    assert len(rows) == 5
    for classes, chance, floor in rows:
        count = int(classes.replace(",", ""))
        assert f"{math.log(count):.3f}" == chance
        assert f"{math.log(1 + (count - 1) / math.e):.3f}" == floor


def test_the_printed_priors_are_those_of_the_table() -> None:
    printed = re.findall(r"\| (0\.\d\d) to (0\.\d\d) \|", (ROOT / "PLAYBOOK.md").read_text("utf-8"))
    ledger = [(f"{group.low:.2f}", f"{group.high:.2f}") for group in table().groups.values()]
    assert printed == ledger


def test_the_diagnostics_run_as_they_stand(capsys: pytest.CaptureFixture[str]) -> None:
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)  # tiny tensors: more threads only wait for each other
    text = (ROOT / "refs" / "diagnostics.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    exec("\n".join(blocks), {"__name__": "diagnostics"})
    said = capsys.readouterr().out
    assert "first loss 2.3" in said
    assert "softmax twice ends at 1.461" in said
    assert "output 3 depends on inputs [3]" in said
    assert "another seed parts at step 0" in said


def test_generated_pages_are_fresh() -> None:
    for name, page in handbook.pages():
        assert (ROOT / "refs" / name).read_text(encoding="utf-8") == page, (
            f"run: python -m trainsleuth.handbook refs ({name})"
        )
