"""Variables of launch scripts: what is assigned, and what stays."""

from __future__ import annotations

from trainsleuth.map.shell_variables import MAX_VALUE, Script, assignments, filled, known_before

SCRIPT = [
    'export MODEL=""',
    'name="DPO-$(date +%Y)"',
    "declare -a data=(",
    "  /a/b",
    "  # /a/c",
    '  "c"',
    ")",
    'args="',
    "  --lr 1e-5 \\",
    '  --name $name"',
    'open="never closed',
    "",
]


def test_what_shells_read_is_read() -> None:
    found = {one.name: one.value for one in assignments(SCRIPT)}
    assert found["name"] == "DPO-$(date +%Y)" and found["data"] == '/a/b "c"'
    assert found["args"] == "--lr 1e-5 --name $name" and "open" not in found
    assert known_before(SCRIPT, 99)["args"] == "--lr 1e-5 --name DPO-$(date +%Y)"


def test_what_is_to_be_filled_in_stays_and_arguments_are_put_in() -> None:
    known = known_before(SCRIPT, 99, ("a.py", "8", "--seed", "1"))
    assert filled('run $MODEL "${data[@]}" $1 ${@:3} ${NODES:-2}', known) == 'run $MODEL /a/b "c" a.py --seed 1 2'


def test_a_value_that_doubles_with_every_line_ends() -> None:
    known = known_before(['a="xxxxxxxx"', *['a="$a$a"'] * 200], 999)
    assert len(known["a"]) == MAX_VALUE


def test_a_line_knows_what_stands_above_it() -> None:
    script = Script(["a=1", "run $a", "a=2", "run $a"])
    assert [filled("$a", script.before(line)) for line in (2, 4)] == ["1", "2"]


def test_a_variable_that_is_set_where_it_is_not_is_known() -> None:
    script = [': "${DATA:="$HOME/data"}"', ": ${NODES:=4}  # by default", "run $DATA $NODES"]
    assert known_before(script, 3) == {"DATA": "$HOME/data", "NODES": "4"}
