"""Prompts: two ways of work that a user can pick, each leading through the tools in their order."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver.prompts import Prompt
from pydantic import Field
from trainsleuth.wording import one_line

Root = Annotated[str, Field(description="Repository folder; default: current directory")]


def read_training_repo(
    root: Root = "",
    command: Annotated[str, Field(description="How the training is started, if it may be run")] = "",
    scope: Annotated[str, Field(description="Only this folder or file of the repository")] = "",
) -> str:
    """Read a training repository in three passes, each answer with file and line."""
    where = _given(root=root, scope=scope)
    run = (
        f"""Call map_training_repo{_given(root=root, scope=scope, observe_command=command)}. It runs two steps of the \
real program and marks what ran. Where it says "differs", reading alone was wrong: trust the run."""
        if command
        else """No command was given, so nothing may be run yet. The question "launch" in the notes names the likely \
one; ask the user before you run it, and how large the data are."""
    )
    return f"""Read the training repository so well that you could say beforehand what a change to it will do.

1. Call map_training_repo{where}. Open the lines that it names. What it calls unresolved or elsewhere is where to read \
for yourself; what it calls absent was not seen, which is not proof.
2. Call add_to_notes{_given(root=root, start_reading="true")}. It writes the questions of three passes (orientation, \
flow, verification by running) to the notes and ticks those that the map answers.
3. {run}
4. Call read_notes. For each open question of passes 1 and 2 read the code (map_training_repo with expand "lines lr|warmup \
in PATH" tells every statement that matches with what its names are worth, several questions at once), then add_to_notes with answers set to the \
question's id, text, path and line. An answer is a line or a number; leave a question open rather than guess. Check the \
ticked ones too: a place is where the answer stands, not the answer itself.
5. Pass 3 is answered by running: for each open question that names a probe call run_probe, then add_to_notes with \
include_findings=true and start_reading=true to tick it.
6. Close with one paragraph (task, data, framework, scale, what is unusual), the ten parts as path:line, the surprises, \
and how many questions are answered of how many, with those still open.
"""


def triage_run(
    command: Annotated[str, Field(description="How the training is started")] = "",
    symptom: Annotated[str, Field(description="What is wrong, in your words")] = "",
    root: Root = "",
) -> str:
    """Find the cause of a training run that goes wrong, and prove it."""
    return f"""A training run goes wrong{f": {one_line(symptom, 500)}" if symptom else ""}. Find the cause before you \
change anything.

1. Call read_notes{_given(root=root)}: what was ruled out before need not be asked again.
2. Call triage_training_run{_given(root=root, command=command, symptom=symptom)}\
{"" if command else ", after asking the user how the training is started"}. Read its first finding at its line, then \
what it ruled out. "open" means undecided, not fine.
3. While more than one hypothesis stands, call suggest_next_test and run what it names, with run_probe or \
find_silent_bugs. Look up the symptom and the cited ids with look_up_folklore.
4. Write down with add_to_notes which cause you hold and what you expect to see once it is gone. Then change that one \
thing: no learning rate, seed or schedule is tuned while a bug is possible.
5. Run the same probe again. The cause is confirmed only when what failed now passes; otherwise take the change back \
and return to 3.
6. Report: the cause as path:line with its numbers, the probe before and after, what was ruled out, what stays open.
"""


# arguments all have defaults: the SDK answers a missing one with "Internal server error" and no word more
PROMPTS = (
    Prompt.from_function(read_training_repo, title="Read a training repository"),
    Prompt.from_function(triage_run, title="Find why a training run goes wrong"),
)


def _given(**arguments: str) -> str:
    """The arguments that were given, as a call shows them; "" for none."""
    given = [
        f"{name}={value if value == 'true' else repr(one_line(value, 500))}"
        for name, value in arguments.items()
        if value
    ]
    return f" with {', '.join(given)}" if given else ""
