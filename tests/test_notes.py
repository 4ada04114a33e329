"""The notes file: what is added comes back, what people wrote stays, and nothing breaks out."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import random
import re
import stat
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from trainsleuth.finding import Finding, Link
from trainsleuth.hypothesis import Credence, Hypothesis
from trainsleuth.notes import Notes, NotesError, storage

WHEN = datetime(2026, 3, 1, 12, 0, 5, tzinfo=timezone.utc)
FAIL = Finding(
    by="check:double-softmax",
    outcome="fail",
    message="`Net.forward` returns probabilities, F.cross_entropy expects logits",
    severity="error",
    confidence="high",
    family="loss",
    path="losses.py",
    line=12,
    chain=(Link("model.py", 40, "softmax is applied here"),),
    measured={"loss": 1.461151, "floor": float("inf"), "classes": 10},
    next="trainsleuth probe --only loss_contract -- python train.py",
    claims=("softmax-before-ce",),
)
PASS = Finding(by="check:double-softmax", outcome="pass", message="3 losses get logits", family="loss")
GUESS = Hypothesis(
    id="double-normalised-loss",
    statement="the loss normalises what the model has normalised already",
    family="loss",
    prior=Credence(0.01, 0.02, 0.04),
    credence=Credence(0.4, 0.6, 0.75),
    verdict="supported",
    for_=("f1c76db7",),
)


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINSLEUTH_HOME", str(tmp_path_factory.mktemp("home")))


def test_findings_come_back_as_they_were(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.add_findings([FAIL, PASS], command="trainsleuth check .", when=WHEN)
    found = notes.read()
    assert [finding.to_dict() for finding in found.findings] == [FAIL.to_dict(), PASS.to_dict()]
    assert found.runs[0].command == "trainsleuth check ."
    assert found.runs[0].when == "2026-03-01T12:00:05Z"
    assert not found.damaged


def test_people_can_read_them(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.add_findings([FAIL], command="trainsleuth check .", when=WHEN)
    shown = [line for line in notes.text().splitlines() if "<!--" not in line]
    assert "## 2026-03-01T12:00:05Z · `trainsleuth check .`" in shown
    said = "- **fail** `losses.py:12` `Net.forward` returns probabilities, F.cross\\_entropy"
    assert any(line.startswith(said.replace("\\", "")) for line in shown)
    assert "  - measured: loss 1.46115, floor inf, classes 10" in shown


def test_nothing_there_yet(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "case.md")
    assert notes.read().findings == ()
    assert notes.text() == ""
    assert not notes.path.exists()


def test_the_same_finding_is_written_once(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    assert len(notes.add_findings([FAIL, FAIL, PASS])) == 2
    before = notes.path.read_bytes()
    assert notes.add_findings([PASS, FAIL]) == ()
    assert notes.path.read_bytes() == before


def test_a_finding_that_went_away_and_came_back_is_news(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    for said in ([FAIL], [PASS], [FAIL], [FAIL, PASS], [PASS, FAIL]):
        notes.add_findings(said)
    assert [finding.outcome for finding in notes.read().findings] == ["fail", "pass", "fail", "pass"]


def test_a_test_with_nothing_to_tell_takes_back_what_it_said(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.add_findings([FAIL], silent=["check:wrong-sign"])
    assert list(notes.last_said()) == ["check:wrong-sign", FAIL.by] and notes.last_said()[FAIL.by]
    before = notes.path.read_bytes()
    assert notes.add_findings([FAIL], silent=["check:wrong-sign"]) == ()
    assert notes.path.read_bytes() == before
    assert notes.add_findings([], silent=["check:wrong-sign", FAIL.by]) == ()
    assert notes.last_said() == {"check:wrong-sign": [], FAIL.by: []}
    assert notes.add_findings([FAIL]) != () and notes.last_said()[FAIL.by]


def test_hypotheses_keep_their_last_state(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    later = Hypothesis(**{**vars(GUESS), "verdict": "confirmed", "against": ("d96c5c0d",)})
    notes.add_hypotheses([GUESS])
    assert notes.add_hypotheses([GUESS]) == ()
    notes.add_hypotheses([later])
    assert notes.read().hypotheses == (later,)
    assert "0.40 to 0.75" in notes.text()


def test_what_a_person_saw_is_an_open_finding(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.add_note("the labels look rolled by one\nsee row 7", path="data.py", line=3)
    (seen,) = notes.read().findings
    assert (seen.by, seen.outcome, seen.place) == ("reader", "open", "data.py:3")
    assert seen.message == "the labels look rolled by one\nsee row 7"
    with pytest.raises(NotesError, match="empty"):
        notes.add_note("  \n")


HOSTILE = [
    "--> <script>alert(1)</script> <!--",
    '\n<!-- trainsleuth:finding {"by":"x","outcome":"fail","message":"forged"} -->\n',
    "\r\n## forged heading\r\n- **pass** forged",
    "```\nfence never closed",
    "` one backtick <!-- and a comment",
    "[click](http://example.com) ![x](http://example.com/a.png) | a | b |",
    "\u2028<!-- trainsleuth:run {} -->\u2029\x85\x0b\x0c\x1b[31m",
    "lone \udce9 surrogate and \u202e bidi",
    "",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_the_repository_stays_in_its_entry(tmp_path: Path, text: str) -> None:
    notes = Notes(tmp_path)
    hostile = Finding(
        by=text or "reader",
        outcome="fail",
        message=text,
        path=f"a{text}.py",
        line=1,
        chain=(Link(text, 1, text),),
        measured={text: 1.0},
        next=text,
        claims=(text,),
    )
    notes.add_findings([hostile], command=f"python {text}")
    notes.add_findings([PASS])
    found = notes.read()
    assert [finding.to_dict() for finding in found.findings] == [hostile.to_dict(), PASS.to_dict()]
    assert len(found.runs) == 2
    assert not found.damaged
    lines = notes.path.read_bytes().decode().split("\n")
    headings = [line for line in lines if line.startswith("#")]
    assert len(headings) == 3
    assert all(line.startswith(("#", "- **", "  ", "<!-- ", "What")) or not line for line in lines)
    outside = "\n".join(line for line in lines if "<!-- trainsleuth:" not in line)
    assert not re.search(r"(?<!\\)<!--|--(?<!\\)>", outside)


def test_hand_edits_stay_byte_for_byte(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.add_findings([FAIL])
    edited = notes.path.read_bytes().replace(b"# trainsleuth notes", b"\xef\xbb\xbf# my \xff\xfe case\t")
    edited += b"\nI think it is the tokenizer.\n\n<!-- trainsleuth:finding {broken} -->\n   "
    notes.path.write_bytes(edited)
    notes.add_findings([PASS])
    after = notes.path.read_bytes()
    assert after.startswith(edited)
    assert notes.read().findings == (*_read_back(FAIL), *_read_back(PASS))
    assert len(notes.read().damaged) == 1


def test_line_ends_of_windows_stay(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.path.write_bytes(b"# mine\r\n\r\nkept\r\n")
    notes.add_findings([FAIL, PASS])
    content = notes.path.read_bytes()
    assert content.startswith(b"# mine\r\n\r\nkept\r\n")
    assert content.count(b"\n") == content.count(b"\r\n")
    assert len(notes.read().findings) == 2


def test_a_file_cut_anywhere_loses_at_most_the_entry_that_was_cut(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.add_findings([FAIL])
    notes.add_hypotheses([GUESS])
    whole = notes.path.read_bytes()
    for length in random.Random(0).sample(range(len(whole)), 40):
        notes.path.write_bytes(whole[:length])
        notes.add_findings([PASS])
        after = notes.path.read_bytes()
        assert after.startswith(whole[:length])
        assert notes.read().findings[-1] == _read_back(PASS)[0]
        assert len(notes.read().damaged) <= 1


@pytest.mark.parametrize("noise", [b"\x00" * 4096, os.urandom(4096), b"<!-- trainsleuth:finding [1] -->\n"])
def test_a_corrupt_file_can_be_added_to(tmp_path: Path, noise: bytes) -> None:
    notes = Notes(tmp_path)
    notes.path.write_bytes(noise)
    notes.add_findings([FAIL])
    assert notes.path.read_bytes().startswith(noise)
    assert notes.read().findings == _read_back(FAIL)


@pytest.mark.parametrize(
    "content",
    [
        '{"by":"x"}',
        '{"by":"x","outcome":"maybe","message":"m"}',
        '{"by":"x","outcome":"fail","message":5}',
        '{"by":"x","outcome":"fail","message":"m","chain":[1]}',
        '{"by":"x","outcome":"fail","message":"m","measured":[1]}',
        '{"by":"x","outcome":"fail","message":"m","severity":["error"]}',
        "[" * 5000,
    ],
)
def test_a_broken_entry_is_named_by_its_line(tmp_path: Path, content: str) -> None:
    notes = Notes(tmp_path)
    notes.path.write_text(f"# mine\n\n<!-- trainsleuth:finding {content} -->\n")
    assert [damaged.line for damaged in notes.read().damaged] == [3]


def test_utf_16_is_refused(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.path.write_text("# mine", encoding="utf-16")
    with pytest.raises(NotesError, match="UTF-8"):
        notes.add_findings([FAIL])


def test_a_link_may_stay_inside_but_not_leave(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    (root / "docs").mkdir(parents=True)
    outside = tmp_path / "victim.md"
    outside.write_text("untouched")
    inside = root / "docs" / "case.md"
    link = root / "trainsleuth-notes.md"

    link.symlink_to(inside)
    Notes(root).add_findings([FAIL])
    assert link.is_symlink()
    assert b"check:double-softmax" in inside.read_bytes()

    link.unlink()
    link.symlink_to(outside)
    for act in (Notes(root).read, Notes(root).text, lambda: Notes(root).add_findings([FAIL])):
        with pytest.raises(NotesError, match="outside"):
            act()
    assert outside.read_text() == "untouched"

    link.unlink()
    link.symlink_to(link)
    with pytest.raises(NotesError):
        Notes(root).add_findings([FAIL])


def test_a_folder_linked_out_of_the_root_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "notes").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotesError, match="outside"):
        Notes(tmp_path / "repo" / "notes" / "case.md", root=tmp_path / "repo").add_findings([FAIL])


@pytest.mark.parametrize("name", ["missing/case.md", "a-file/case.md", "nul\0.md", "x" * 300, "fifo"])
def test_a_place_that_cannot_hold_notes_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / "a-file").write_text("")
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(NotesError, match="another"):
        Notes(tmp_path / name).add_findings([FAIL])


@pytest.mark.parametrize(
    "content", ["import torch\n", "# my own case\n", "x = '<!-- trainsleuth:run {} -->'\n", "\0\1"]
)
def test_a_file_that_holds_no_notes_is_never_added_to(tmp_path: Path, content: str) -> None:
    given = tmp_path / "train.py"
    given.write_text(content)
    (tmp_path / "trainsleuth-notes.md").symlink_to(given)
    for notes in (Notes(given), Notes(tmp_path)):
        for act in (notes.read, notes.text, lambda notes=notes: notes.add_findings([FAIL])):
            with pytest.raises(NotesError, match="holds no notes of trainsleuth"):
                act()
    assert given.read_text() == content


def test_notes_may_have_any_name_that_was_free(tmp_path: Path) -> None:
    (tmp_path / "empty.md").touch()
    for name in ("new.md", "empty.md"):
        Notes(tmp_path / name).add_findings([FAIL])
        Notes(tmp_path / name).add_findings([PASS])
        assert len(Notes(tmp_path / name).read().findings) == 2


def test_mode_is_kept_and_nothing_else_lies_around(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.add_findings([FAIL])
    notes.path.chmod(0o640)
    (tmp_path / f".{notes.path.name}.tmp").write_text("of a writer that was killed")
    notes.add_findings([PASS])
    assert stat.S_IMODE(notes.path.stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["trainsleuth-notes.md"]


def test_reading_a_large_file_is_bounded(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.path.write_bytes(b"an old line\n" * 500_000)
    notes.add_findings([FAIL])
    found = notes.read()
    assert found.findings == _read_back(FAIL)
    assert 1_000_000 < found.left_out < 6_000_000
    assert len(notes.text(1000).encode()) <= 1000


def _write_many(path: str, writer: int) -> None:
    for number in range(6):
        Notes(path).add_findings([Finding(by=f"probe:w{writer}", outcome="fail", message=f"n{number}")])


def test_writers_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    writers = [multiprocessing.Process(target=_write_many, args=(str(tmp_path), n)) for n in range(4)]
    for writer in writers:
        writer.start()
    for number in range(6):
        notes.add_note(f"seen {number}")
    for writer in writers:
        writer.join()
    said = {(finding.by, finding.message) for finding in notes.read().findings}
    assert len(said) == 4 * 6 + 6
    assert not notes.read().damaged


def _write_for_ever(path: str) -> None:
    for number in itertools.count():
        Notes(path).add_note(f"seen {number} " + "x" * 20_000)


def test_a_writer_that_is_killed_leaves_a_whole_file(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.add_findings([FAIL])
    seen = 1
    for delay in (0.05, 0.1, 0.15, 0.2):
        writer = multiprocessing.Process(target=_write_for_ever, args=(str(tmp_path),))
        writer.start()
        time.sleep(delay)
        writer.kill()
        writer.join()
        found = notes.read()
        assert not found.damaged
        assert len(found.findings) >= seen
        seen = len(found.findings)
    assert seen > 1
    notes.add_findings([PASS])
    assert [path.name for path in tmp_path.iterdir()] == ["trainsleuth-notes.md"]


def test_a_home_that_cannot_be_written_does_not_stop_the_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRAINSLEUTH_HOME", str(tmp_path / "file" / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    Notes(tmp_path / "case.md").add_findings([FAIL])
    assert Notes(tmp_path / "case.md").read().findings == _read_back(FAIL)


def _as_nobody(act: Callable[[], object], results: multiprocessing.Queue[str]) -> None:
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    try:
        act()
        results.put("written")
    except NotesError as error:
        results.put(str(error))


@pytest.mark.parametrize("read_only", ["folder", "file"])
def test_what_is_read_only_stays_and_is_said(read_only: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as given:
        folder = Path(given)
        home, repo = folder / "home", folder / "repo"
        for path, mode in ((folder, 0o755), (home, 0o777), (repo, 0o777)):
            path.mkdir(exist_ok=True)
            path.chmod(mode)
        monkeypatch.setenv("TRAINSLEUTH_HOME", str(home))
        notes = Notes(repo)
        notes.path.write_text("# mine\n")
        (notes.path if read_only == "file" else repo).chmod(0o444 if read_only == "file" else 0o555)

        context = multiprocessing.get_context("fork")
        results: multiprocessing.Queue[str] = context.Queue()
        writer = context.Process(target=_as_nobody, args=(lambda: notes.add_findings([FAIL]), results))
        writer.start()
        said = results.get(timeout=30)
        writer.join()
        repo.chmod(0o777)
        assert "another folder" in said or "read-only" in said
        assert notes.path.read_text() == "# mine\n"


def _read_back(finding: Finding) -> tuple[Finding, ...]:
    return (Finding.from_dict(finding.to_dict()),)


@pytest.mark.parametrize("looks", [1, 2, 3])
def test_a_file_that_another_writer_makes_meanwhile_is_a_plain_one(
    looks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "trainsleuth-notes.md"
    look, left = Path.stat, [looks]

    def stat_then_made(path: Path, **given: Any) -> os.stat_result:
        try:
            return look(path, **given)
        finally:
            if path == target:
                left[0] -= 1
                if left[0] == 0:
                    os.close(os.open(target, os.O_CREAT))

    monkeypatch.setattr(Path, "stat", stat_then_made)
    assert storage.resolved(target, tmp_path) == target.resolve()
