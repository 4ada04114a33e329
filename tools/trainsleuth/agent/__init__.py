"""Triage by a model: it walks the loop of causes and tests over our own tools, within what the user agreed to.

    from trainsleuth.agent.loop import connect, investigate  # anthropic is slow to import

    report = await investigate(agreement, connect(), server, model=..., limits=Limits(), folder=...)

`agreement` fixes the folder and the command: the model cannot name others. `served` gives it the tools of our
MCP server, `source` lets it read the code, `trying` tries a change on a copy when `gate` lets it. The notes
file is its memory: a second start goes on where the first ended.
"""

from .agreement import Agreement
from .clues import LogError, log_text
from .limits import Limits, Spent

__all__ = [
    "Agreement",
    "Limits",
    "LogError",
    "Spent",
    "log_text",
]
