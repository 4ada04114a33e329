"""Configuration files that are forms to be filled in, and no YAML before that: what can be read of them is."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.facts.reading.config import MAX_MENDED, Configs
from trainsleuth.repository import Repository


def read(root: Path, text: str) -> tuple[dict[str, str], str]:
    """The table of a file, and what is said of it."""
    (root / "form.yaml").write_text(text)
    repository = Repository(root)
    table = Configs(repository, ())["form.yaml"]
    said = {one.path: one.reason for one in repository.skipped}
    return {key: value.value for key, value in table.items()}, said.get("form.yaml", "")


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ('lr: 0.1\npath: "a/7b" or "a/13b"  # yours\n', {"lr": "0.1", "path": '"a/7b" or "a/13b"'}),
        ("kind: images\n  build:\n    folder: x\nlr: 0.1\n", {"kind.build.folder": "x", "lr": "0.1"}),
        ("- it: 'a' or 'b'\n", {"0.it": "'a' or 'b'"}),
    ],
)
def test_a_line_that_is_no_yaml_does_not_hide_the_others(text: str, table: dict[str, str], tmp_path: Path) -> None:
    found, said = read(tmp_path, text)
    assert found == table
    assert said.startswith("read in part: not YAML: line")


@pytest.mark.parametrize("text", ["lr: [0.1\n", "a: {b\n", '"a" or "b"\n', 'p: "a" or "b"\n' * (MAX_MENDED + 1)])
def test_what_cannot_be_mended_is_left_out(text: str, tmp_path: Path) -> None:
    found, said = read(tmp_path, text)
    assert not found
    assert said.startswith("not YAML: ")


def test_what_is_yaml_is_read_without_a_word(tmp_path: Path) -> None:
    assert read(tmp_path, "lr: 0.1\n") == ({"lr": "0.1"}, "")
