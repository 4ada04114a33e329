"""What the tools share: their arguments as an agent sees them, and how an answer is cut to size."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field
from trainsleuth.answers import Answer

from trainsleuth_mcp.keeping import keep

CONCISE, FULL = 2_000, 7_800  # tokens of an answer; the hard cap leaves room for its frame

Root = Annotated[str, Field(description="Repository folder; default: current directory")]
Detail = Annotated[Literal["concise", "full"], Field(description="concise: about 2,000 tokens; full: up to 8,000")]
Command = Annotated[list[str] | str, Field(description='How the user starts the training: ["python", "train.py"]')]
Observed = Annotated[list[str] | str, Field(description="EXECUTES this training command in root, two steps of it")]
Seconds = Annotated[float, Field(gt=0, le=600, description="Time limit of the whole call")]
Python = Annotated[str, Field(description="Interpreter with torch, when the command's own has none")]
Contain = Literal["auto", "overlay", "copy", "none"]
Checks = Annotated[list[str] | None, Field(description="Only these checks; a wrong id lists all there are")]
Probes = Annotated[list[str] | None, Field(description="Only these probes; a wrong id lists all there are")]
Cwd = Annotated[str, Field(description="Working folder of the command, inside root")]


def told(answer: Answer, kind: str, tokens: int) -> str:
    """The answer as text; with a `kind`, the whole of it is kept as a file, which the text names."""
    if kind:
        answer = replace(answer, tail="\n".join(part for part in (answer.tail, keep(answer, kind)) if part))
    return answer.text(tokens)


def tokens(detail: str) -> int:
    return FULL if detail == "full" else CONCISE
