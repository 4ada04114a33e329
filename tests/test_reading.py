"""Reading mode: questions in the notes, answered by the map, a run, a probe or a person, and never lost."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from mcp_session import ask
from small_programs import HEALTHY
from trainsleuth.cli import main
from trainsleuth.finding import Finding
from trainsleuth.map import read_anatomy
from trainsleuth.notes import FILE_NAME, Notes, NotesError
from trainsleuth.observing import observation
from trainsleuth.probes import all_probes
from trainsleuth.question import Question
from trainsleuth.reading import PASSES, answer_question, read_repository
from trainsleuth.reading.answering import replies
from trainsleuth.reading.confirming import SEEN, seen_replies
from trainsleuth.reading.questions import QUESTIONS
from twins import HERE, copied, trainsleuth

HANDS = Finding(by="probe:overfit_one_batch", outcome="pass", message="fits it in 90 steps", path="train.py", line=11)


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINSLEUTH_HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "train.py").write_text(HEALTHY)
    (folder / "README.md").write_text("# Signs\n\nA small network learns the sign of the first of eight numbers.\n")
    return folder


def state(notes: Notes) -> dict[str, Question]:
    return {one.id: one for one in notes.read().questions}


def test_the_map_answers_with_places_and_leaves_the_rest_open(repo: Path) -> None:
    notes = Notes(repo)
    reading = read_repository(repo, notes)
    told = state(notes)
    assert [one.id for one in reading.questions] == [asked.id for asked in QUESTIONS] == list(told)
    assert {one.stage for one in reading.questions} == set(PASSES)
    assert told["optimizer"].places == ("train.py:9",) and told["optimizer"].by == "map"
    assert told["task"].places == ("README.md:3",) and "sign of the first" in told["task"].answer
    assert "train.py:13" in told["loss"].places
    for id in ("scale", "paper", "batch", "what-moves", "prediction"):
        assert not told[id].is_answered and not told[id].places
    for one in told.values():
        for place in one.places:
            path, _, line = place.rpartition(":")
            assert 1 <= int(line) <= len((repo / path).read_text().splitlines()), one
    assert reading.answered == sum(one.is_answered for one in told.values()) < len(QUESTIONS)
    assert "- [x] optimizer: " in notes.text() and "- [ ] paper: " in notes.text()


def test_reading_again_adds_only_what_changed(repo: Path) -> None:
    notes = Notes(repo)
    read_repository(repo, notes)
    before = notes.path.read_bytes()
    assert read_repository(repo, notes).news == ()
    assert notes.path.read_bytes() == before
    (repo / "train.py").write_text("# one line more\n" + HEALTHY)
    news = read_repository(repo, notes).news
    assert "optimizer" in news and "task" not in news
    assert state(notes)["optimizer"].places == ("train.py:10",)
    assert notes.path.read_bytes().startswith(before)


def test_what_a_person_wrote_stays(repo: Path) -> None:
    """An answer, a tick by hand, a box cleared by hand, and words between the entries."""
    notes = Notes(repo)
    read_repository(repo, notes)
    answer_question(notes, "paper", "there is none", "README.md", 1)
    answer_question(notes, "optimizer", "Adam on all weights", "train.py", 9)
    text = (
        notes.path.read_text()
        .replace("- [ ] scale: ", "- [x] scale: ")
        .replace("- [x] framework: ", "- [ ] framework: ")
    )
    text = text.replace("- [ ] unusual: ", "My own words.\n\n- [ ] unusual: ")
    notes.path.write_text(text)
    (repo / "train.py").write_text("# one line more\n" + HEALTHY)
    read_repository(repo, notes)
    told = state(notes)
    assert (told["paper"].answer, told["paper"].places, told["paper"].by) == (
        "there is none",
        ("README.md:1",),
        "reader",
    )
    assert told["optimizer"].answer == "Adam on all weights"
    assert told["scale"].is_answered and told["scale"].by == "reader"
    assert not told["framework"].is_answered and told["framework"].by == "reader"
    assert notes.path.read_text().startswith(text) and "My own words." in notes.text()


def test_a_probe_in_the_notes_ticks_its_question(repo: Path) -> None:
    notes = Notes(repo)
    read_repository(repo, notes)
    assert "probe --only overfit_one_batch" in state(notes)["one-batch"].test
    notes.add_findings([Finding(**{**vars(HANDS), "outcome": "open"})])
    read_repository(repo, notes)
    assert not state(notes)["one-batch"].is_answered  # undecided is no answer
    notes.add_findings([HANDS])
    read_repository(repo, notes)
    told = state(notes)["one-batch"]
    assert (told.answer, told.by, told.places) == (
        "pass: fits it in 90 steps",
        "probe:overfit_one_batch",
        ("train.py:11",),
    )
    notes.add_findings([Finding(**{**vars(HANDS), "outcome": "fail", "message": "stays at 0.7"})])
    read_repository(repo, notes)
    assert state(notes)["one-batch"].answer == "fail: stays at 0.7"


def test_what_entered_the_model_and_the_loss_is_told_by_probes_too(repo: Path) -> None:
    notes = Notes(repo)
    read_repository(repo, notes)
    assert "read --observe" in state(notes)["batch"].test
    batch = Finding(by="probe:batch_as_seen", outcome="pass", message="gets float32 [32, 8]", path="train.py", line=13)
    loss = Finding(by="probe:loss_contract", outcome="fail", message="gets probabilities", path="train.py", line=13)
    notes.add_findings([batch, loss])
    read_repository(repo, notes)
    told = state(notes)
    for id in ("batch", "data-seen"):
        assert (told[id].answer, told[id].by) == ("pass: gets float32 [32, 8]", "probe:batch_as_seen")
    for id in ("model-output", "first-loss"):
        assert (told[id].answer, told[id].by) == ("fail: gets probabilities", "probe:loss_contract")


def test_questions_and_who_answers_them() -> None:
    ids = [asked.id for asked in QUESTIONS]
    assert len(set(ids)) == len(ids)
    assert {one for asked in QUESTIONS for one in asked.probes} <= set(all_probes())
    assert sum(bool(asked.probes) for asked in QUESTIONS if asked.stage == 3) >= 9
    assert set(SEEN) <= set(ids)


@pytest.mark.parametrize("files", [{}, {"model.py": "import torch\n\n\nclass Net(torch.nn.Module):\n    pass\n"}])
def test_a_repository_that_trains_nothing_gets_no_ticks_for_it(files: dict[str, str], tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    answered = replies(read_anatomy(tmp_path))
    assert not set(answered) & {"data", "loss", "iteration", "optimizer", "schedule", "checkpoint", "features"}


def test_the_command_of_an_odd_name_can_be_copied(tmp_path: Path) -> None:
    (tmp_path / "my train.py").write_text(HEALTHY + "if __name__ == '__main__':\n    pass\n")
    read_repository(tmp_path, Notes(tmp_path))
    told = state(Notes(tmp_path))
    assert told["launch"].answer.startswith("python 'my train.py' (no command")
    assert told["batch"].test.endswith("-- python 'my train.py'")


def test_a_baseline_is_no_configuration(tmp_path: Path) -> None:
    lines = "model.eval()\n" + HEALTHY.replace("    optimizer.zero_grad()\n", "")
    (tmp_path / "train.py").write_text(lines)
    (tmp_path / "real.json").write_text('{"version": 1, "lr": 0.1}')
    assert main(["check", str(tmp_path), "--write-baseline", str(tmp_path / "base.json")]) == 0
    told = read_anatomy(tmp_path)
    assert "base.json" not in {place.path for part in told.parts.values() for place in part.places}
    assert dict(told.index.configs["base.json"]) == {} and told.index.configs["real.json"]


def test_wrong_answers_are_refused(repo: Path) -> None:
    notes = Notes(repo)
    with pytest.raises(NotesError, match="begin with trainsleuth read"):
        answer_question(notes, "paper", "none")
    read_repository(repo, notes)
    with pytest.raises(NotesError, match="no question 'papers'"):
        answer_question(notes, "papers", "none")
    with pytest.raises(NotesError, match="is empty"):
        answer_question(notes, "paper", " ")


def test_the_command_reads_shows_progress_and_takes_answers(repo: Path) -> None:
    first = trainsleuth("read", cwd=repo)
    assert first.code == 0 and "pass 1, orientation, " in first.output and "pass 3" in first.output
    plain = trainsleuth("read", "--format", "json", cwd=repo).json
    assert plain["news"] == [] and plain["progress"]["total"] == len(QUESTIONS)
    answered = trainsleuth(
        "notes", "--answers", "paper", "--add", "none", "--at", "README.md:1", "--format", "json", cwd=repo
    )
    assert answered.json["progress"]["answered"] == plain["progress"]["answered"] + 1
    assert "reading: " in trainsleuth("notes", cwd=repo).output
    wrong = trainsleuth("notes", "--answers", "paper", cwd=repo)
    assert wrong.code == 2 and "--add" in wrong.errors


def test_one_file_is_read_and_its_folder_keeps_the_notes(repo: Path) -> None:
    assert trainsleuth("read", "train.py", cwd=repo).code == 0
    assert (repo / "train.py").read_text() == HEALTHY
    assert state(Notes(repo))["optimizer"].places == ("train.py:9",)


def test_two_steps_answer_for_real_and_stay(tmp_path: Path) -> None:
    """What ran is kept by a later reading that runs nothing."""
    root = copied(HERE / "runs" / "missing_zero_grad" / "broken", tmp_path)
    first = trainsleuth("read", "--observe", "--", "python", "main.py", cwd=root)
    told = state(Notes(root))
    assert first.code == 0 and told["batch"].by == "run" and "float32 32x48x1" in told["batch"].answer
    assert told["schedule"].by in ("", "map") and "RMSprop" in told["optimizer"].answer
    assert told["real-steps"].answer.startswith("batch > forward > smooth_l1_loss > backward")
    trainsleuth("read", cwd=root)
    later = state(Notes(root))
    assert later["batch"] == told["batch"] and later["real-steps"].by == "run"


def test_a_probe_writes_to_the_notes_when_told(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("1 / 0\n")
    answer = trainsleuth("probe", "--notes", FILE_NAME, "--", "python", "train.py", cwd=tmp_path)
    (found,) = Notes(tmp_path).read().findings
    assert answer.code == 2 and found.by == "probe:run" and "ZeroDivisionError" in found.message


def test_through_the_server(repo: Path, tmp_path: Path) -> None:
    added, answered, notes, unknown = ask(
        tmp_path / "home",
        repo,
        ("add_to_notes", {"start_reading": True}),
        ("add_to_notes", {"answers": "scale", "text": "a laptop", "path": "README.md", "line": 3}),
        ("read_notes", {"detail": "full"}),
        ("add_to_notes", {"answers": "scales", "text": "a laptop"}),
    )
    assert f"added {len(QUESTIONS)} entries" in added and "(scale)" in answered
    assert "[x] scale: " in notes and "[ ] paper: " in notes
    assert unknown.startswith("ERROR: ") and "no question 'scales'" in unknown


def test_what_was_not_seen_answers_nothing() -> None:
    from test_observed import STEP, run_of

    assert seen_replies(observation(run_of())) == {}
    assert set(seen_replies(observation(run_of(*STEP)))) <= {"iteration", "real-steps"}


def test_questions_survive_the_way_through_the_file(repo: Path) -> None:
    odd = Question("a-b", 2, "what --> <b> `x`?", "line\n## two\u202e", ("d\u00e9j\u00e0.py:3",), "reader", "rm '\n'")
    notes = Notes(repo)
    notes.add_questions([odd])
    assert notes.read().questions == (odd,) and json.dumps(odd.to_dict())
    assert not [line for line in notes.text().splitlines() if line.startswith("## two")]


def test_reading_alone_ends_at_the_first_signal(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a run is worth a handler that waits for it to be ended."""
    met = []

    def spied(*given: object) -> object:
        met.append(signal.getsignal(signal.SIGTERM))
        return read_repository(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("trainsleuth.reading.read_repository", spied)
    assert main(["read", str(repo)]) == 0
    assert met == [signal.SIG_DFL]
