"""The eight tools. Their names, signatures and docstrings are what an agent sees."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from trainsleuth_mcp.tools.casework import add_to_notes, read_notes, suggest_next_test
from trainsleuth_mcp.tools.reading import find_silent_bugs, look_up_folklore, map_training_repo
from trainsleuth_mcp.tools.running import run_probe, triage_training_run


@dataclass(frozen=True)
class Tool:
    """One tool and what hosts are told about it. A tool that runs code may reach whatever that code reaches."""

    run: Callable[..., Awaitable[Any]]
    title: str
    reads_only: bool
    runs_code: bool = False


ALL = (
    Tool(triage_training_run, "Find the cause of a bad training run", reads_only=False, runs_code=True),
    Tool(map_training_repo, "Map a training repository", reads_only=False, runs_code=True),
    Tool(find_silent_bugs, "Search the code for silent bugs", reads_only=True),
    Tool(run_probe, "Probe a running training program", reads_only=False, runs_code=True),
    Tool(suggest_next_test, "Suggest the next test", reads_only=True),
    Tool(look_up_folklore, "Look up training folklore", reads_only=True),
    Tool(read_notes, "Read the notes of a case", reads_only=True),
    Tool(add_to_notes, "Add to the notes of a case", reads_only=False),
)
