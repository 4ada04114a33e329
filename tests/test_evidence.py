"""The lore can be checked and measured again: the verifier catches each kind of defect, and experiments repeat."""

from __future__ import annotations

import functools
import http.server
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from trainsleuth import checks, content, evidence, handbook, lore, probes
from trainsleuth.cli import main
from trainsleuth.evidence import Library, anchors, texts

ROOT = Path(__file__).resolve().parent.parent
EXPERIMENTS = ROOT / "evidence" / "experiments"
PAGE = """# One

Some words before. A network that is wrong mostly trains on and *ends up*
somewhat worse than it should be, which nobody notices.

## Two

```python
# Three
```

The step is taken "before" the schedule \N{EM DASH} always.
"""


@functools.cache
def library() -> Library:
    return evidence.installed()


def kinds(changed: Library) -> set[str]:
    return {defect.kind for defect in evidence.defects(changed)}


def test_the_lore_as_it_stands_has_no_defect() -> None:
    assert list(evidence.defects(library())) == []


class _Strict(yaml.SafeLoader):
    """Refuses a key that is given twice: YAML would keep the last one without a word."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"{node.start_mark}: a key is given twice in {keys}"
        return super().construct_mapping(node, deep)


@pytest.mark.parametrize("name", ["claims", "sources", "coverage", "questions"])
def test_no_key_is_given_twice(name: str) -> None:
    assert yaml.load((ROOT / "evidence" / f"{name}.yaml").read_text("utf-8"), _Strict)
    with pytest.raises(AssertionError, match="given twice"):
        yaml.load("- id: a\n  text: b\n  text: c\n", _Strict)


def with_claim(**changes: Any) -> Library:
    """The library with one claim changed; None takes a field away."""
    first = {**library().claims[0], **changes}
    claim = {name: value for name, value in first.items() if value is not None}
    return replace(library(), claims=(claim, *library().claims[1:]))


def with_citation(**changes: Any) -> Library:
    cited = library().claims[0]["sources"]
    return with_claim(sources=[{**cited[0], **changes}, *cited[1:]])


def with_page(text: str) -> Library:
    return replace(library(), pages={**library().pages, "refs/new.md": text})


def with_text(anchor: str, heading: str = "One", page: str = PAGE) -> Library:
    changed = with_citation(id="karpathy-recipe", anchor=anchor, heading=heading)
    return replace(changed, texts={"karpathy-recipe": page}, pages={})


CLAIM = library().claims[0]["text"]
INJECTED: dict[str, Callable[[], Library]] = {
    "duplicate-id": lambda: replace(library(), claims=(*library().claims, library().claims[0])),
    "unknown-field": lambda: with_claim(mesured="0.5"),
    "unknown-strength": lambda: with_claim(strength="sure"),
    "no-support": lambda: with_claim(sources=[{"id": "karpathy-recipe", "where": "somewhere"}]),
    "not-measured": lambda: with_claim(strength="measured by us"),
    "no-experiment": lambda: with_claim(experiment="zero_gard"),
    "no-result": lambda: with_claim(experiment="zero_grad"),
    "unknown-source": lambda: with_citation(id="karpathy-recip"),
    "long-anchor": lambda: with_citation(anchor="one two three four five six seven eight"),
    "unclear-anchor": lambda: with_citation(seen="no"),
    "unused-source": lambda: replace(library(), sources=(*library().sources, {"id": "nobody", "read": "in part"})),
    "unknown-read": lambda: replace(
        library(), sources=({**library().sources[0], "read": "once"}, *library().sources[1:])
    ),
    "unclaimed-result": lambda: replace(
        library(), experiments={**library().experiments, "zero_grad": {"fails-silently": "so"}}
    ),
    "not-run": lambda: replace(library(), scripts=library().scripts | {"brand_new"}),
    "unknown-claim": lambda: with_page("Nothing is raised [fails-silenty]."),
    "unsourced-number": lambda: with_page("It helps in 30% of the cases."),
    "unbacked-number": lambda: with_page("It helps in 31.7% of the cases [fails-silently]."),
    "anchor-gone": lambda: with_text("zebras dance on frozen lakes tonight"),
    "anchor-moved": lambda: with_text("taken before the schedule", heading="One"),
    "shared-words": lambda: replace(with_text("ends up"), texts={"karpathy-recipe": f"# One\n\nends up. {CLAIM}"}),
}


@pytest.mark.parametrize("kind", INJECTED)
def test_an_injected_defect_is_caught(kind: str) -> None:
    assert kind in kinds(INJECTED[kind]())


def test_every_kind_of_defect_is_injected() -> None:
    raised = set[str]()
    for path in (ROOT / "tools" / "trainsleuth" / "evidence").glob("*.py"):
        raised |= set(re.findall(r'Defect\(\s*"([\w-]+)"', path.read_text("utf-8")))
    assert raised == set(INJECTED)


@pytest.mark.parametrize(
    ("anchor", "heading", "state", "now"),
    [
        ("mostly trains on and ends up", "One", "found", ""),  # over a line end and marks of emphasis
        ("taken 'before' the schedule - always", "Two", "found", ""),  # other quotes and dashes
        ("mostly trains on and ends up", "", "found", ""),
        ("mostly trains on and ends up", "A title of the web page", "found", ""),
        ("mostly trains on and ends up", "Two", "moved", "under the heading 'One'"),
        ("mostly trains along and ends up", "One", "moved", "worded 'mostly trains on and ends up'"),
        ("optimiser chosen by somebody else", "One", "gone", ""),
        ("ends", "Three", "found", ""),  # a comment in code is no heading
    ],
)
def test_an_anchor_is_found_moved_or_gone(anchor: str, heading: str, state: str, now: str) -> None:
    for page in (PAGE, as_html(PAGE)):
        assert anchors.look_for({"anchor": anchor, "heading": heading}, anchors.sections(page)) == (state, now)


def test_a_text_without_headings_is_read_whole() -> None:
    parts = anchors.sections("First come some words, where a < b > c.\n\nThen others.")
    assert anchors.look_for({"anchor": "first come some words"}, parts) == ("found", "")
    assert anchors.look_for({"anchor": "b > c", "heading": "Elsewhere"}, parts) == ("found", "")


def as_html(markdown: str) -> str:
    body = re.sub(r"```.*?```", "<pre># Three</pre>", markdown, flags=re.DOTALL)
    body = re.sub(r"(?m)^(#+) (.*)$", lambda h: f"<h{len(h[1])} id='x'>{h[2]}</h{len(h[1])}>", body)
    return f"<html><script>var x = 'zebras';</script><body><p>{body}</p></body></html>".replace(
        "*ends up*", "<em>ends up</em>"
    )


def test_numbers_agree_to_the_digit_that_is_shown() -> None:
    says = "loss 1.4611 against 1.4612, 40% of 2,000, rate 7e-05, share 0.993"
    text = replace(library(), experiments={"zero_grad": {"zero-grad-forgotten": says}}, pages={})
    for written, right in (
        ("1.46", True), ("1.461", True), ("1.462", False), ("40%", True), ("41 %", False), ("7e-05", True),
        ("99.3%", True), ("99.4%", False), ("8e-05", False), ("torch 2.13", True), ("`0.77`", True), ("12 classes", True),
    ):  # fmt: skip
        page = {"refs/new.md": f"It is {written} [zero-grad-forgotten]."}
        found = {defect.kind for defect in evidence.defects(replace(text, pages=page)) if "refs/new" in defect.where}
        assert found == (set() if right else {"unbacked-number"}), written


def test_a_number_in_code_needs_no_source() -> None:
    assert kinds(with_page("Text.\n\n```python\nx = 0.123\n```\n")) == set()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "page").write_text(as_html(PAGE), encoding="utf-8")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def guess_type(self, path: Any) -> str:
            return "application/pdf" if str(path).endswith(".pdf") else "text/html"

    (tmp_path / "paper.pdf").write_bytes(b"%PDF")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_pages_are_fetched_only_as_text(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = lore.sources()
    addresses = {
        "karpathy-recipe": f"{site}/page",
        "cs229-advice": f"{site}/paper.pdf",
        "tuning-playbook": f"{site}/none",
    }
    monkeypatch.setattr(lore, "source", lambda id: replace(known[id], url=addresses[id]))
    got = {id: (text, why) for id, text, why in texts.fetched(addresses)}
    assert "ends up" in (got["karpathy-recipe"][0] or "")
    assert got["cs229-advice"][0] is None and "give a text with --source" in got["cs229-advice"][1]
    assert got["tuning-playbook"][0] is None and "404" in got["tuning-playbook"][1]


def test_the_command_verifies_offline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evidence", "verify"]) == 0
    assert "0 defects" in capsys.readouterr().out
    (tmp_path / "karpathy-recipe.md").write_text("# A page about something else\n\nnothing is here\n")
    assert main(["evidence", "verify", "--source", str(tmp_path), "--format", "json"]) == 1
    plain = json.loads(capsys.readouterr().out)
    assert plain["anchors"]["gone"] == len(plain["defects"]) > 5
    assert main(["evidence", "verify", "--source", str(tmp_path / "karpathy-recipe.md=x")]) == 2
    assert main(["evidence", "verify", "--source", "somebody=README.md"]) == 2
    assert "ID=FILE" in capsys.readouterr().err


def lab(code: str) -> str:
    """Runs code in the folder of the experiments, in a process of its own."""
    told = subprocess.run([sys.executable, "-c", code], cwd=EXPERIMENTS, capture_output=True, text=True, timeout=200)
    assert told.returncode == 0, told.stderr
    return told.stdout


def test_the_results_page_and_the_claims_page_are_fresh() -> None:
    code = "from lab import page, store; print(page.page(store.read(), store.torch_version()), end='')"
    assert lab(code) == (ROOT / "evidence" / "RESULTS.md").read_text("utf-8")
    fresh = handbook.claims_page() == (ROOT / "evidence" / "CLAIMS.md").read_text("utf-8")
    assert fresh, "run: python -m trainsleuth.handbook refs evidence"


def test_experiments_repeat() -> None:
    """Three of them run again: each expectation comes true, and the figures are those that were committed."""
    pytest.importorskip("torch")
    again = "['leak_at_init', 'init_loss', 'loss_planes']"
    code = (
        "import json; from dataclasses import asdict; from lab import experiment, store; before = store.read()\n"
        f"print(json.dumps([[asdict(experiment.run(name)), asdict(before[name])] for name in {again}]))"
    )
    for now, before in json.loads(lab(code)):
        assert now["held"] == before["held"] == dict.fromkeys(now["held"], now["seeds"])
        for name, figure in before["figures"].items():
            slack = 0.05 * abs(figure["mean"]) + 3 * figure["std"] + 1e-6
            assert now["figures"][name]["mean"] == pytest.approx(figure["mean"], abs=slack), (now["name"], name)


def test_there_are_enough_experiments_and_they_are_quick() -> None:
    results = content.read_evidence("experiments/results.json")["results"]
    assert len(results) >= 35
    assert sum(len(one["says"]) for one in results) >= 35
    assert all(one["seconds"] < 60 for one in results)
    assert sum(one["seconds"] for one in results) < 15 * 60


@functools.cache
def headings(page: str) -> dict[str, str]:
    """Anchor -> text of the section, for a page below the root."""
    text = (ROOT / page).read_text("utf-8")
    return {part.id.partition("#")[2]: part.text for part in content._sections(page, text)}


def test_each_check_and_probe_leads_to_its_claims() -> None:
    known = set(lore.claims())
    for folder, names in (("checks", checks.check_ids()), ("probes", probes.all_probes())):
        for name in names:
            path = ROOT / "tools" / "trainsleuth" / folder / f"{name.replace('-', '_')}.py"
            text = path.read_text("utf-8")
            for private in re.findall(r"^from \.(_\w+) import", text, re.M):
                text += (path.parent / f"{private}.py").read_text("utf-8")
            assert known & set(re.findall(r'"([a-z0-9]+(?:-[a-z0-9]+)+)"', text)), name


def coverage() -> Iterator[tuple[str, str]]:
    table = yaml.safe_load((ROOT / "evidence" / "coverage.yaml").read_text("utf-8"))
    for items in table.values():
        yield from ((item, place) for item, places in items.items() for place in places)


@pytest.mark.parametrize(("item", "place"), list(coverage()))
def test_what_has_to_be_covered_has_its_place(item: str, place: str) -> None:
    page, _, anchor = place.partition("#")
    sections = headings(page)
    assert anchor in sections, f"{place} for {item!r}; there are {', '.join(sections)}"
    assert content._CITED.search(sections[anchor]), f"{place} cites no claim"


def questions() -> list[dict[str, Any]]:
    asked: list[dict[str, Any]] = yaml.safe_load((ROOT / "evidence" / "questions.yaml").read_text("utf-8"))
    return asked


@pytest.mark.parametrize("question", questions(), ids=lambda question: question["asked"])
def test_a_real_question_is_answered_within_two_hops(question: dict[str, Any]) -> None:
    here = "SKILL.md"
    assert 1 <= len(question["path"]) <= 2
    for step in question["path"]:
        page, _, anchor = step.partition("#")
        text = (ROOT / here).read_text("utf-8")
        is_linked = f"]({page})" in text or f"]({page}#" in text
        assert page == here or is_linked, f"{here} does not link to {page}"
        assert not anchor or anchor in headings(page)
        here = page
    section = headings(here)[question["path"][-1].partition("#")[2]]
    assert set(question["claims"]) <= set(content._CITED.findall(section))


def test_there_are_fifteen_questions_from_as_many_threads() -> None:
    assert len({question["thread"] for question in questions()}) >= 15
