"""The one word that says most about a line of source: what it defines, loops over, calls or sets."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator

_COMMENT = re.compile(r"((?:\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[^\"'#])*)(?:#.*)?", re.S)
_TEXT = re.compile(r"\"(?:\\.|[^\"\\])*\"?|'(?:\\.|[^'\\])*'?")
_CUT = re.compile(r"(?<=\W)\w*…$")  # a line that was cut ends in a part of a word
_DEFINED = re.compile(r"(?:async )?(?:class|def) (\w+)")
_PROGRAM = re.compile(r"([\w-]+\.(?:py|sh))\b")
_MODULE = re.compile(r"\s-m (?:\w+\.)*(\w+)")
_STEPS = re.compile(r"\.((?:backward|step|zero_grad)\w*)\(")
_HEADER = re.compile(r"(for|while|if|elif) (.*)", re.S)
_TEST = re.compile(r"\bif\b.*?(?:\belse\b|$)", re.S)  # of a choice: what it asks is not what it does
_CALL = re.compile(r"(\w+)\(")
_ITEM_SET = re.compile(r"[\w.]+\[[\"'](\w+)[\"']\]\s*=(?!=)")
_SET = re.compile(r"[\"'-]*\s*(?:\w+\.)*?(\w+)[\"']?(?:,[\w., ]*)?\s*(?::|[-+*/|&]?=(?!=))")
_NAME = re.compile(r"(?<![\w.])(?:\w+\.)*([A-Za-z_]\w*)")
_PERIOD = re.compile(r"%\s*(?:\w+\.)*([A-Za-z_]\w*)")
_NEGATED = re.compile(r"not (?:\w+\.)*([A-Za-z_]\w*)(?![\w.(])")
_DOING = {"open", "print", "exec", "eval", "compile", "__import__"}  # the rest of the builtins only form a value
_OF_TENSORS = {
    *["to", "size", "item", "view", "reshape", "cuda", "cpu", "long", "detach", "clone", "numpy", "mean", "sum"]
}
_OF_CONTAINERS = {name for kind in (str, list, dict) for name in dir(kind) if not name.startswith("_")} - {"update"}
_FORMING = ({*dir(builtins)} - _DOING) | _OF_TENSORS | _OF_CONTAINERS
_SILENT = {*keyword.kwlist, *dir(builtins), "self", "cls", "_"} - {"__name__"}
SHORT = 2  # letters: a name that says nothing by itself


def telling_word(line: str) -> str:
    """Never a number, nor a word of a comment; "" where nothing else stands."""
    text = _CUT.sub("", _uncommented(line)).strip()
    code = _TEXT.sub('""', text)
    if found := _DEFINED.match(code):
        return found[1]
    if found := _HEADER.match(code):
        return _of_header(found[1].removeprefix("el"), found[2])
    for pattern, where in ((_PROGRAM, text), (_MODULE, text), (_STEPS, code)):
        if found := pattern.search(where):
            return found[1]
    calls = [found[1] for found in _CALL.finditer(_TEST.sub("", code)) if not found[1].isdecimal()]
    bound = _ITEM_SET.match(text) or _SET.match(text)
    names = [one for one in _names(code) if f"{one}(" not in code]
    done = [one for one in calls if one not in _FORMING and len(one) > SHORT]
    is_named = bound is not None and not bound[1].isdecimal() and len(bound[1]) > 1
    words = (
        *done,
        *([bound[1]] if bound is not None and is_named else []),
        *(one for one in names if len(one) > SHORT),
        *calls,
        *names,
    )
    return next(iter(words), "")


def _uncommented(line: str) -> str:
    found = _COMMENT.match(line)
    return found[1] if found is not None else line


def _names(code: str) -> Iterator[str]:
    """The last names of paths, without what is written of the language itself."""
    return (found[1] for found in _NAME.finditer(code) if found[1] not in _SILENT)


def _of_header(kind: str, rest: str) -> str:
    """The name that a loop binds, else what it goes over; what a test asks for, of a period the period."""
    head, _, below = rest.partition(" in ") if kind == "for" else (rest, "", "")
    if period := _PERIOD.search(head):
        return f"{kind} {period[1]}"
    if negated := _NEGATED.match(head):
        return f"{kind} not {negated[1]}"
    names = [*(one for one in _names(head) if len(one) > SHORT), *_names(below), *_names(head)]
    return f"{kind} {names[0]}" if names else f"{kind} {rest.partition(':')[0]}".rstrip("( ")
