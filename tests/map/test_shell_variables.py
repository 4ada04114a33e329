"""Variables of launch scripts: what is assigned, and what stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.map import expand_component
from trainsleuth.map.launching.shell_variables import MAX_VALUE, Script, assignments, filled, known_before, script_lines

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
    assert known_before(SCRIPT, 99)["args"] == "--lr 1e-5 --name DPO-$(date)"


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


CHOOSES = [
    'export HERE="$( cd "$(dirname "${BASH_SOURCE[0]}" )" && pwd )"',
    'ROOT=$(dirname "$0")',
    'if [ -z "$1" ]; then',
    '    NAME=${NAME:-"small"}',
    "else",
    "    NAME=$1",
    "fi",
    "LOG=\"$ROOT/logs/$(date +'%Y')-${NAME}\" #/$(date +'%H')\"",
    'CMD="python ${HERE}/train.py --config-name ${NAME} log=${LOG}"',
    "${CMD} 2>&1 | tee log.txt",
]


def test_an_argument_that_is_not_given_leaves_what_stands_above_it() -> None:
    assert known_before(CHOOSES, 99)["NAME"] == "small"
    assert known_before(CHOOSES, 99, ("large",))["NAME"] == "large"


def test_the_folder_of_the_script_and_a_comment_behind_a_quoted_value() -> None:
    known = known_before(CHOOSES, 99, ("large",))
    assert known["HERE"] == known["ROOT"] == "."
    assert known["LOG"] == "./logs/$(date)-large"
    assert known["CMD"] == "python ./train.py --config-name large log=./logs/$(date)-large"


def test_folders_above_the_script() -> None:
    known = known_before(['HERE=$(dirname "$0")', 'ROOT=$(dirname $(dirname "$HERE"))', "DATA=$(dirname /a/b/c)"], 9)
    assert (known["ROOT"], known["DATA"]) == ("./../..", "/a/b")


def test_a_script_that_runs_a_command_out_of_a_variable(tmp_path: Path) -> None:
    files = {
        "runs/start.sh": "\n".join(CHOOSES),
        "runs/train.py": """import hydra
import torch


@hydra.main(config_path="conf", config_name="small")
def main(cfg):
    net = torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=cfg.rate)
    for epoch in range(3):
        opt.zero_grad()
        net(torch.ones(1, 2)).sum().backward()
        opt.step()


if __name__ == "__main__":
    main()
""",
        "runs/conf/small.yaml": "rate: 0.5\n",
        "runs/conf/large.yaml": "rate: 0.25\n",
    }
    root = write(files, tmp_path)
    for recipe, rate in (("bash runs/start.sh large", "0.25"), ("bash runs/start.sh", "0.5")):
        found = expand_component(root, "run", "runs/train.py", recipe, budget=600).text
        assert f"rate={rate}" in found


def test_a_hostile_line_of_a_script_ends() -> None:
    """A pattern with two open ends did not end within a minute on the first; nothing is said of it, and what follows is read."""
    for line in ('A="' + "$(cd BASH_SOURCE " * 6000 + '"', "A=$(date" + " " * 3900 + "(", "A=$(cd " + "$0 " * 30000):
        assert known_before([line, "B=1", "echo $B"], 3)["B"] == "1"


def test_a_script_knows_its_own_name() -> None:
    text = 'A=$(basename $(dirname $0))\nB="$(basename "$0" .sh)"\nC=$(basename "${BASH_SOURCE[0]}")\nD=$(basename $1)'
    lines = script_lines(text, "runs/small/first.sh")
    assert lines == ["A=small", 'B="first"', "C=first.sh", "D=$(basename $1)"]


ARMS = """DEVICES=0,1,2,3,
MODE='many'
LOAD_FROM=''
BATCH=2
if [ -n "$LOAD_FROM" ]; then
    OPTIONS="batch=$BATCH load=$LOAD_FROM"
else
    OPTIONS="batch=$BATCH"
fi
if [ "$MODE" = "debug" ]; then
    BATCH=1
    OPTIONS="$(echo "batch=${BATCH} workers=0")"
    run $OPTIONS
elif [ "$MODE" = "many" ]; then
    LENGTH=${#DEVICES}
    COUNT=$((LENGTH/2))
    run $OPTIONS $COUNT
fi
LOG="$(echo "logs/$(date +"%m").txt")"
"""


def test_an_arm_that_is_not_taken_assigns_nothing() -> None:
    lines = ARMS.split("\n")
    script = Script(lines)
    told = [filled(lines[line - 1].strip(), script.before(line)) for line in (13, 17)]
    assert told == ["run batch=1 workers=0", "run batch=2 4"]
    assert script.before(20)["LOG"] == "logs/$(date).txt"


def test_options_of_a_script_that_parses_them_are_its_variables() -> None:
    lines = [
        "config=conf/a.yaml",
        "stage=0",
        ". utils/parse_options.sh || exit 1;",
        "run --config $config --stage $stage",
    ]
    known = known_before(lines, 4, ("--config", "conf/b.yaml", "--stage=3"))
    assert filled(lines[3], known) == "run --config conf/b.yaml --stage 3"


ADDS = [
    'OPTS=""',
    'OPTS+=" --lr 1e-5"  # the peak',
    'OPTS+=" --epochs ${EPOCHS:-20}"',
    "ARGS=(--seed 1)",
    "ARGS+=(--amp)",
    "ARGS+=(",
    "  --width 8",
    ")",
    "NAME+=run",
    'OPTS="--other"',
]


def test_what_is_added_stands_behind_what_there_was() -> None:
    known = known_before(ADDS, len(ADDS))
    assert known["OPTS"].split() == ["--lr", "1e-5", "--epochs", "20"] and known["NAME"] == "run"
    assert known["ARGS"].split()[-3:] == ["--amp", "--width", "8"]
    assert known_before(ADDS, 99)["OPTS"] == "--other"


HELD = [
    "GPUS=(0 1 2 3)",
    "COUNT=${#GPUS[@]}",
    'OPTS=""',
    'OPTS+=" --do-train"',
    'OPTS+=" --lr 0.3"',
    'CMD="torchrun --nproc_per_node ${COUNT} train.py ${OPTS}"',
    "${CMD} \\",
    ">> train.log 2>&1 &",
]


TRAIN = (
    "import argparse\nimport torch\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--do-train', action='store_true')\n"
    "parser.add_argument('--lr', type=float, default=0.1)\nargs = parser.parse_args()\n\n\ndef fit():\n"
    "    net = torch.nn.Linear(2, 1)\n    opt = torch.optim.SGD(net.parameters(), lr=args.lr)\n    for _ in range(3):\n"
    "        loss = net(torch.ones(1, 2)).sum()\n        opt.zero_grad()\n        loss.backward()\n        opt.step()\n\n\n"
    "if __name__ == '__main__':\n    if args.do_train:\n        fit()\n"
)


def test_a_command_that_a_variable_holds_is_read_with_the_items_of_an_array_counted(tmp_path: Path) -> None:
    root = write({"run.sh": "\n".join(HELD), "train.py": TRAIN}, tmp_path)
    sheet = expand_component(root, "run", recipe="bash run.sh").text
    assert "lr=0.3" in sheet and "nproc_per_node=4" in sheet


STAGES = [
    'HERE=$(cd "$(dirname "$0")";pwd)',
    "STAGE=$1",
    "case ${STAGE} in",
    '  "all")',
    "    bash run.sh small --quick",
    "    bash run.sh tune",
    "    ;;",
    "  small | tiny)",
    "    python train.py --lr 0.3",
    "    ;;",
    "  tune*)",
    "    if [[ $2 == slow ]]; then",
    "      python train.py --lr 0.2",
    "    else",
    "      python ${HERE}/train.py --lr 0.1",
    "    fi ;;",
    "  *) python train.py --lr 0.4 ;;",
    "esac",
]


@pytest.mark.parametrize(
    ("arguments", "runs"),
    [
        (("all",), {5, 6}),
        (("tiny",), {9}),
        (("tune_more", "fast"), {15}),
        (("tune", "slow"), {13}),
        (("other",), {17}),
        ((), {5, 6, 9, 13, 15, 17}),
    ],
)
def test_of_a_case_the_arm_runs_that_the_arguments_take(arguments: tuple[str, ...], runs: set[int]) -> None:
    script = Script(STAGES, arguments)
    started = [number for number, line in enumerate(STAGES, 1) if "python" in line or "bash" in line]
    assert {number for number in started if script.runs(number)} == runs


def test_a_script_that_starts_itself_once_for_each_stage_is_followed_to_the_last(tmp_path: Path) -> None:
    root = write({"run.sh": "\n".join(STAGES), "train.py": TRAIN}, tmp_path)
    assert "lr=0.1" in expand_component(root, "run", recipe="bash run.sh all").text


OWN_OPTIONS = [
    "epoch=3",
    "prompt=True",
    "while [[ $# -gt 0 ]]; do",
    '  case "$1" in',
    "  -l | --lr)",
    '    lr="$2"',
    "    shift 2",
    "    ;;",
    '  --out=*) out="${1#*=}"; shift ;;',
    "  --epoch) epoch=$2; shift; shift ;;",
    "  --no_prompt)",
    "    prompt=False",
    "    shift ;;",
    "  *) exit 1 ;;",
    "  esac",
    "done",
    "run",
]


def test_options_that_a_script_reads_itself_are_what_its_arguments_say() -> None:
    known = known_before(OWN_OPTIONS, 17, ("-l", "1e-4", "--no_prompt", "--out=runs/a"))
    assert {name: known.get(name) for name in ("lr", "out", "epoch", "prompt")} == {
        "lr": "1e-4",
        "out": "runs/a",
        "epoch": "3",
        "prompt": "False",
    }
    assert known_before(OWN_OPTIONS, 17).get("lr") is None


def test_options_by_a_letter_are_read_too() -> None:
    script = [
        'while getopts "d:v" opt; do',
        "  case $opt in",
        "    d) device=$OPTARG ;;",
        "    v) verbose=1 ;;",
        "  esac",
        "done",
        "run",
    ]
    known = known_before(script, 7, ("-d", "cuda:1"))
    assert known["device"] == "cuda:1" and "verbose" not in known


def test_a_case_over_something_else_takes_no_argument() -> None:
    script = ["size=$1", "case $HOSTNAME in", "  big) lr=$2 ;;", "esac", "run"]
    assert known_before(script, 5, ("small", "0.3"))["size"] == "small"


def test_what_a_sourced_script_assigns_and_reads_is_known(tmp_path: Path) -> None:
    program = "import argparse\n\nimport torch\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--lr', type=float, default=0.1)\n"
    program += "parser.add_argument('--epochs', type=int, default=1)\nargs = parser.parse_args()\nnet = torch.nn.Linear(2, 1)\n"
    program += (
        "opt = torch.optim.SGD(net.parameters(), lr=args.lr)\nfor epoch in range(args.epochs):\n    opt.zero_grad()\n"
    )
    program += "    net(torch.ones(1, 2)).sum().backward()\n    opt.step()\n"
    common = 'export lr=0.1\nexport epochs=5\nwhile true; do\n  case "$1" in\n  --lr) lr="$2"; shift 2 ;;\n  *) break ;;\n  esac\ndone\nrun_command=python3\n'
    script = "source scripts/common.sh\n\n${run_command} train.py --lr ${lr} --epochs $epochs\n"
    write({"train.py": program, "scripts/common.sh": common, "run.sh": script}, tmp_path)
    told = expand_component(tmp_path, "run", "train.py", "bash run.sh --lr 0.7").text
    assert "lr=0.7" in told and "epochs=5" in told


def test_of_scripts_that_are_started_one_after_the_other_the_last_that_trains_counts(tmp_path: Path) -> None:
    program = "import torch\n\ndef main():\n    net = torch.nn.Linear(2, 1)\n    opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    program += "    for step in range(9):\n        opt.zero_grad()\n        net(torch.ones(1, 2)).sum().backward()\n        opt.step()\n\nmain()\n"
    files = {"project/train.py": program, "all.sh": "bash scripts/pretrain.sh a\nbash scripts/finetune.sh b\n"}
    files |= {"scripts/pretrain.sh": "python project/train.py --stage first --data $1\n"}
    files |= {"scripts/finetune.sh": "python project/train.py --stage second --data $1\n"}
    write(files, tmp_path)
    told = expand_component(tmp_path, "run", "project/train.py", "bash all.sh").text
    assert "stage=second" in told and "data=b" in told


def test_sums_with_brackets_are_worked_out() -> None:
    lines = ["ALL=128", "EACH=4", "STEPS=$((ALL / (EACH * 8)))", "MORE=$(( 1 + EACH * 2 ))", "NONE=$((ALL / 0))"]
    known = known_before(lines, 99)
    assert (known["STEPS"], known["MORE"]) == ("4", "9")
    assert "128" in known["NONE"] or "ALL" in known["NONE"]
