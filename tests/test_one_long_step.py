"""One step of L-BFGS that holds the whole training: its evaluations count as steps, so that they are judged."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import HERE, Host, edited

pytest.importorskip("torch")

from trainsleuth import probes

OBSERVE = dict(probes.EXPERIMENTS["observe"])
LONG = ("max_iter=5, ", "max_iter=120, tolerance_grad=0.0, tolerance_change=0.0, ")
PLAIN = ((', line_search_fn="strong_wolfe"', ""), ("lr=0.5", "lr=0.2"))
ONCE = ("for _ in range(20)]", "for _ in range(1)]")


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        ((), ""),
        (PLAIN, ""),
        ((("    optimizer.zero_grad()\n", ""), *PLAIN), "never cleared"),
    ],
)  # fmt: skip
def test_a_training_in_one_step_is_judged(
    host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...], words: str
) -> None:
    program = edited(HERE / "targets" / "lbfgs.py", (LONG, ONCE, *edits), tmp_path / "program")
    trace, ended = host.run(program, tmp_path, OBSERVE)
    assert ended["code"] == 0 and trace.steps > 20 and not trace.hooks_missing, ended
    judged = list(probes.judge("observe", trace))
    said = [one.message for one in judged if one.is_alarm]
    assert any(words in one for one in said) if words else not said, said
    passed = {one.by for one in judged if one.outcome == "pass"}
    assert words or {"probe:first_nonfinite", "probe:independence", "probe:step_trace"} <= passed, judged
