"""The fault matrix: its data fit together, and a few of its cells still come out as they are kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest
from trainsleuth import finding
from trainsleuth.likelihoods import table

pytest.importorskip("torch")

HERE = Path(__file__).parent.parent / "evidence" / "faults"
SAMPLE = (("classifier", "never-cleared"), ("registry", "eval-unscaled"))
BAR, NEEDED_CELLS = 0.85, 500


@pytest.fixture
def matrix(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The modules of the matrix are no package of the product: they are found in their own folder."""
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("TRAINSLEUTH_CACHE", "off")  # the runner sets it
    import matrix  # type: ignore[import-not-found]

    yield matrix


def test_faults_name_families_and_causes_that_exist(matrix: ModuleType) -> None:
    assert len(matrix.faults()) >= 35
    for fault in matrix.faults().values():
        assert fault.family in get_args(finding.Family), fault.id
        assert set(fault.suspects) <= set(table().causes), fault.id


def test_each_program_says_something_of_each_fault_and_each_edit_fits(matrix: ModuleType, tmp_path: Path) -> None:
    programs = list(matrix.programs())
    assert len(programs) >= 12
    compiled: set[str] = set()
    for program in programs:
        for fault in matrix.faults().values():
            if program.why_absent(fault) is not None:
                continue
            folder = matrix.plant(program, fault.id, tmp_path / program.name / fault.id)
            for path in folder.rglob("*.py"):
                text = path.read_text(encoding="utf-8")
                if text not in compiled:
                    compile(text, str(path), "exec")
                    compiled.add(text)


def test_every_cell_was_run_and_each_miss_has_its_reason(matrix: ModuleType) -> None:
    """As the kept results have it; `make faults` fills them anew."""
    import table as runner  # type: ignore[import-not-found]

    verdicts: list[str] = []
    for program in matrix.programs():
        cells = runner.kept(program)
        assert set(cells) == {"", *program.edits}, program.name
        assert not cells[""].alarms, program.name
        visible = [
            fault for fault in matrix.faults().values() if fault.id in cells and not program.why_invisible(fault)
        ]
        told = {fault.id: cells[fault.id].verdict(fault.suspects) for fault in visible}
        assert set(program.missed) == {id for id, verdict in told.items() if verdict != "seen"}, program.name
        verdicts += told.values()
    assert len(verdicts) >= NEEDED_CELLS
    assert verdicts.count("seen") >= BAR * len(verdicts)


def test_a_sample_of_cells_still_holds(matrix: ModuleType) -> None:
    from cells import Runner  # type: ignore[import-not-found]

    programs = {program.name: program for program in matrix.programs()}
    runner = Runner()
    for name, id in SAMPLE:
        fault = matrix.faults()[id]
        assert runner.cell(programs[name], fault).verdict(fault.suspects) == "seen", (name, id)
    runner.close()
