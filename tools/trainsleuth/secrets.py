"""What is written for a password or a key is in no answer: answers go to models, into notes and logs."""

from __future__ import annotations

import re
from typing import Any

HIDDEN, SHORT = "<hidden>", "***"  # never longer than what they stand for, so that a budget still holds
_NAMES = (
    r"(?:api|access|secret|private|signing|encryption|account)[_-]?key(?:[_-]?id)?|secret(?:[_-]?access[_-]?key)?|"
    r"passw(?:or)?d|passphrase|credentials?|"
    r"(?:auth|access|refresh|bearer|hf|hub|huggingface|api|github|gitlab|wandb|slack|bot|secret|session|personal)[_-]?token"
)
_NO_VALUE = r"(?:None|null|true|false|str|int|bool|bytes|Optional\[\w+\]|<\w+>)(?![\w.])"
_QUOTED = r"\"[^\"]+\"|'[^']+'"
_END = r"(?=[\s,;}\])]|$)"
_GIVEN = re.compile(
    rf"(?P<name>(?:{_NAMES})(?:[\"']?\s*[:=]\s*|[\"']\s*,\s*(?:[^#\n]*?\bdefault\s*=\s*)?))(?!{_NO_VALUE})"
    rf"(?P<value>{_QUOTED}|(?<=:\s)[^\s,}}\])\"'$<{{(]{{4,}}|(?<=\s=\s)[\w+/=~-]{{6,}}{_END}|(?<==)(?=\S*\d)[\w+/=~-]{{6,}}{_END})",
    re.I,
)
# a name that is mostly that of a piece of text, so its value has to look like a key: letters and digits, and long
_TOKEN = re.compile(
    r"(?P<name>\btoken[\"']?\s*[:=]\s*)(?P<value>[\"']?(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{16,}[\"']?)", re.I
)
_SHAPES = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{20,}|(?:AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{30,}|glpat-[\w-]{20,}|"
    r"xox[abposr]-[\w-]{10,}|AIza[\w-]{30,}|github_pat_\w{30,})"
)
_IN_URL = re.compile(r"(?P<name>://[^\s/:@\"']+:)(?P<value>[^\s/@\"'$<{]+)(?=@)")


def hide(text: str) -> str:
    """`text` without the values of passwords, keys and tokens; it never grows."""
    if not _MAY_HOLD.search(text):
        return text
    for pattern in (_GIVEN, _TOKEN, _IN_URL):
        text = pattern.sub(lambda found: found["name"] + _instead_of(found["value"]), text)
    return _SHAPES.sub(lambda found: _instead_of(found[0]), text)


_MAY_HOLD = re.compile(r"key|secret|passw|passphrase|credential|token|://|hf_|sk-|AKIA|ASIA|gh\w_|glpat|xox|AIza", re.I)


def hide_all(plain: Any, within: bool = False) -> Any:
    """The same for every text in plain JSON data; `within` is what belongs to a name that says that it is a secret:
    {"key": "password", "value": "hunter2", "layers": [{"value": "hunter2"}]}.
    """
    if isinstance(plain, str):
        return hide(plain)
    if isinstance(plain, dict):
        within = within or any(_is_name(plain.get(one)) for one in ("key", "name", "setting"))
        return {name: _shown(name, value, within) for name, value in plain.items()}
    return [hide_all(one, within) for one in plain] if isinstance(plain, list | tuple) else plain


def _shown(name: str, value: Any, within: bool) -> Any:
    secret = isinstance(value, str) and ((within and name == "value") or _is_name(name))
    return HIDDEN if secret and value.lower() not in ("", "none", "null", "true", "false") else hide_all(value, within)


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and _NAME.search(name) is not None


_NAME = re.compile(rf"(?:^|[._-])(?:{_NAMES})$", re.I)


def _instead_of(value: str) -> str:
    return HIDDEN if len(value) >= len(HIDDEN) else SHORT if len(value) >= len(SHORT) else "*" * len(value)
