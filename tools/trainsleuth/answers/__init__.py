"""Answers: what the engine found, as text and as JSON; the same words for the command line and for MCP."""

from trainsleuth.answers.answer import FAILED, FOUND, NOTHING_WRONG, Answer, Section

__all__ = ["FAILED", "FOUND", "NOTHING_WRONG", "Answer", "Section"]
