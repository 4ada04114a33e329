"""Colour for answers on a terminal: the only module of the command line that needs rich."""

from __future__ import annotations

from rich.console import Console
from rich.highlighter import RegexHighlighter
from rich.text import Text
from rich.theme import Theme


class _AnswerHighlighter(RegexHighlighter):
    base_style = "answer."
    highlights = [  # noqa: RUF012 rich declares it so
        r"(?m)^(?P<error>(?P<place>\S+:\d+)?.*?  error  )\S",
        r"(?m)^(?P<warning>.*?  warning  )\S",
        r"(?m)^(?P<place>[^\s:]\S*:\d+)(?=  )",
        r"(?m)^(?P<title>[a-z][^\n|]*:)$",
        r"(?m)^ +(?P<label>(measured|next|claims|via|source|examined)\b:?)",
        r"(?m)^(?P<quoted> *\| .*)$",
        r"(?m)^  (?P<supported>(supported|confirmed)) ",
    ]


_THEME = Theme(
    {
        "answer.place": "bold cyan",
        "answer.error": "bold red",
        "answer.warning": "bold yellow",
        "answer.title": "bold",
        "answer.label": "dim",
        "answer.quoted": "dim",
        "answer.supported": "bold",
    }
)


def print_coloured(text: str) -> None:
    """The same characters as without colour: nothing in `text` is read as markup, and no line is folded again."""
    console = Console(theme=_THEME, highlight=False, soft_wrap=True)
    console.print(_AnswerHighlighter()(Text(text)))
