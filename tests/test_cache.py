"""What is kept between runs: right after every kind of change, and harmless when damaged, forged, full or forbidden."""

from __future__ import annotations

import logging
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import msgspec
import pytest
from trainsleuth import cache as caching
from trainsleuth.cache import Cache, digest
from trainsleuth.checks import CheckReport, run_checks
from trainsleuth.cli import main
from trainsleuth.facts import FileFacts, Index, build_index, keep_facts
from trainsleuth.kept import answered
from trainsleuth.map import EXPANDABLE, diagram, expand_component, map_repository
from trainsleuth.map.expansion.questions.pages import Pages
from trainsleuth.repository import Repository

pytestmark = pytest.mark.usefixtures("right_so_far")

TRAIN = dedent(
    """
    import torch
    from net import Net

    def train(loader, epochs: int = 3):
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(epochs):
            for x, y in loader:
                if epoch > 1:
                    loss = torch.nn.functional.cross_entropy(model(x), y)
                    loss.backward()
                optimizer.step()
        return model

    if __name__ == "__main__":
        train([])
    """
)
NET = "import torch\n\nclass Net(torch.nn.Linear):\n    def __init__(self):\n        super().__init__(2, 2)\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project; the cache is beside it."""
    monkeypatch.setenv("TRAINSLEUTH_CACHE", str(tmp_path / "cache"))
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(TRAIN)
    (project / "net.py").write_text(NET)
    return project


def _failures(folder: Path) -> list[str]:
    return [finding.place for finding in _report(folder).findings if finding.outcome == "fail"]


def _report(folder: Path) -> CheckReport:
    return run_checks(Repository(folder))


def _nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on an answer must come out of the cache."""

    def refuse(*_: object, **__: object) -> Index:
        raise AssertionError("the index was built again")

    monkeypatch.setattr("trainsleuth.checks.build_index", refuse)
    monkeypatch.setattr("trainsleuth.map.read_index", refuse)


def test_the_same_question_again_is_not_worked_out_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, drawn = _report(folder), map_repository(folder)
    assert _failures(folder) == ["train.py:13"]
    _nothing_is_read(monkeypatch)
    assert _report(folder) == first
    assert map_repository(folder) == drawn


def test_one_part_that_was_asked_for_answers_for_the_next(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINSLEUTH_CACHE", "off")
    alone = {part: expand_component(folder, part).to_dict() for part in (*EXPANDABLE, "data,loss", "model,batch")}
    graph = diagram(folder)
    monkeypatch.setenv("TRAINSLEUTH_CACHE", str(folder.parent / "cache"))
    assert expand_component(folder, "loss").to_dict() == alone["loss"]
    assert diagram(folder) == graph
    _nothing_is_read(monkeypatch)
    assert {part: expand_component(folder, part).to_dict() for part in alone} == alone
    assert diagram(folder) == graph
    (folder / "train.py").write_text(TRAIN + "\n")
    with pytest.raises(AssertionError, match="built again"):
        expand_component(folder, "loss")


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "train.py").write_text("# one line more\n" + TRAIN),
        lambda root: (root / "more.py").write_text(TRAIN),
        lambda root: (root / "train.py").unlink(),
        lambda root: (root / ".ignore").write_text("train.py\n"),
        lambda root: (root / "link.py").symlink_to("net.py"),
    ],
    ids=["content", "a new file", "a file less", "a file ignored", "a link"],
)
def test_any_change_is_seen(folder: Path, change: object) -> None:
    before = _report(folder)
    assert callable(change)
    change(folder)
    os.environ["TRAINSLEUTH_CACHE"], place = "off", os.environ["TRAINSLEUTH_CACHE"]
    fresh = _report(folder)
    os.environ["TRAINSLEUTH_CACHE"] = place
    assert _report(folder) == fresh != before


def test_an_edit_of_the_same_size_and_time_is_seen(folder: Path) -> None:
    assert _failures(folder) == ["train.py:13"]
    path = folder / "train.py"
    was = path.stat()
    path.write_text(TRAIN.replace("optimizer.step()", "print('stepped')"))
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert path.stat().st_size == was.st_size
    assert _failures(folder) == []


def test_another_question_is_another_answer(folder: Path) -> None:
    assert map_repository(folder, budget=500) != map_repository(folder, budget=2000)
    assert run_checks(Repository(folder), only=["double-softmax"]).examined.keys() == {"double-softmax"}
    assert _failures(folder) == ["train.py:13"]


def _kept_pages(folder: Path) -> bytes:
    """What questions about the project are answered from, as it was kept."""
    kept = answered(Repository(folder), ("pages", None, None), Pages, lambda: pytest.fail("nothing was kept"))
    return msgspec.msgpack.encode(kept)


@pytest.mark.parametrize("what", ["run", "ask Which loss?"])
@pytest.mark.parametrize("budget", [200, 4000])
def test_questions_are_answered_from_the_same_whatever_was_asked_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch, what: str, budget: int
) -> None:
    logged = "".join(f"        wandb.log({{'loss': 0, 'place': {place}}})\n" for place in range(60))
    (folder / "train.py").write_text("import wandb\n" + TRAIN.replace("    return model\n", logged))
    expand_component(folder, "ask What is logged?", budget=600)
    first = _kept_pages(folder)
    monkeypatch.setenv("TRAINSLEUTH_CACHE", str(folder.parent / "another"))
    expand_component(folder, what, budget=budget)
    assert _kept_pages(folder) == first


def test_another_version_of_the_code_reads_nothing_old(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _report(folder)
    _nothing_is_read(monkeypatch)
    monkeypatch.setattr("trainsleuth.kept.code_digest", lambda: b"a newer version")
    with pytest.raises(AssertionError, match="built again"):
        _report(folder)


def test_the_version_is_that_of_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "facts").mkdir()
    monkeypatch.setattr(caching, "__file__", str(tmp_path / "cache.py"))
    digests = []
    source = tmp_path / "facts" / "one.py"
    for text, written in (("a = 1", 1), ("a = 22", 1), ("a = 33", 2)):
        source.write_text(text)
        os.utime(source, ns=(written, written))
        caching.code_digest.cache_clear()
        digests.append(caching.code_digest())
    caching.code_digest.cache_clear()
    assert len(set(digests)) == 3


def test_facts_of_files_that_did_not_change_are_not_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = build_index(Repository(folder))
    assert len(list(index.calls("step"))) == 1
    keep_facts(index)
    (folder / "net.py").write_text(NET + "\nmore = 1\n")
    read: list[str] = []
    real = build_index.__globals__["read_source"]

    def noted(path: str, *rest: str) -> FileFacts:
        read.append(path)
        facts: FileFacts = real(path, *rest)
        return facts

    monkeypatch.setitem(build_index.__globals__, "read_source", noted)
    again = build_index(Repository(folder))
    assert read == ["net.py"]
    assert [site.call.line for site in again.calls("step")] == [13]


def test_facts_do_not_depend_on_the_place(folder: Path, tmp_path: Path) -> None:
    index = build_index(Repository(folder))
    keep_facts(index)
    (tmp_path / "elsewhere").mkdir()
    (folder / "train.py").rename(tmp_path / "elsewhere" / "moved.py")
    moved = build_index(Repository(tmp_path / "elsewhere"))
    assert {function.path for function in moved.functions()} == {"moved.py"}
    assert [site.function.path for site in moved.calls("backward")] == ["moved.py"]


def _damages(stored: bytes) -> list[bytes]:
    deep = b"\x91" * 100_000
    return [
        b"",
        stored[: len(stored) // 2],
        stored[::-1],
        b"\xff" * 100,
        deep,
        msgspec.msgpack.encode({"a": [1, None]}),
    ]


def test_damaged_and_forged_entries_count_as_none(folder: Path) -> None:
    first = _report(folder)
    file = Path(os.environ["TRAINSLEUTH_CACHE"]) / "kept.sqlite"
    with sqlite3.connect(file) as store:
        entries = store.execute("SELECT key, value FROM kept").fetchall()
    assert len(entries) == 3  # the answer, and the facts of two files
    for number in range(len(_damages(b""))):
        with sqlite3.connect(file) as store:
            for key, value in entries:
                store.execute("UPDATE kept SET value = ? WHERE key = ?", (_damages(value)[number], key))
        assert _report(folder) == first


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 100, b"SQLite format 3\x00" + b"\x07" * 5000])
def test_a_damaged_file_is_begun_anew(folder: Path, content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Path(os.environ["TRAINSLEUTH_CACHE"])
    place.mkdir()
    (place / "kept.sqlite").write_bytes(content)
    assert _failures(folder) == ["train.py:13"]
    assert _failures(folder) == ["train.py:13"]
    _nothing_is_read(monkeypatch)
    assert _failures(folder) == ["train.py:13"]


def test_without_a_place_to_write_all_works_and_it_is_said_once(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("TRAINSLEUTH_CACHE", str(tmp_path / "a file" / "cache"))
    with caplog.at_level(logging.WARNING):
        assert _failures(folder) == ["train.py:13"]
        assert _failures(folder) == ["train.py:13"]
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 1
    assert said[0].startswith(f"the cache at {tmp_path / 'a file' / 'cache'} cannot be used (")


def test_nothing_is_written_into_the_project(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    _report(folder)
    map_repository(folder)
    assert sorted(folder.rglob("*")) == before


def test_off_means_off(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRAINSLEUTH_CACHE", "off")
    _report(folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["project"]


@pytest.mark.parametrize("verb", ["map", "check"])
def test_the_command_line_can_do_without(
    folder: Path, tmp_path: Path, verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRAINSLEUTH_CACHE", os.environ["TRAINSLEUTH_CACHE"])  # is set back afterwards
    assert main([verb, "--no-cache", str(folder)]) == (1 if verb == "check" else 0)
    assert "train.py" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["project"]


def test_the_oldest_make_room(tmp_path: Path) -> None:
    cache = Cache(tmp_path, max_bytes=100_000)
    keys = [digest(bytes([number])) for number in range(30)]
    for key in keys:
        cache.put({key: b"x" * 10_000})
    kept = cache.get(keys)
    assert keys[-1] in kept
    assert keys[0] not in kept
    assert 0 < sum(map(len, kept.values())) <= 100_000


WRITER = """
import sys
from pathlib import Path
from trainsleuth.cache import Cache, digest
cache = Cache(Path(sys.argv[1]), max_bytes=40_000)
for number in range(60):
    key = digest(str(number % 20).encode())
    assert cache.get([key]).get(key) in (None, str(number % 20).encode() * 500)
    cache.put({key: str(number % 20).encode() * 500})
"""


def test_processes_at_the_same_time(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(caching.__file__).parents[1])}
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], env=environment, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    said = [writer.communicate()[1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, 0, 0], said
    assert said == [b""] * 4


def test_parts_of_a_key_do_not_run_together() -> None:
    assert digest(b"ab", b"c") != digest(b"a", b"bc")
