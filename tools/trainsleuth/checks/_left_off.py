"""Options of the command line that are off unless somebody gives them: what stands behind one does not run by default."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trainsleuth.facts import Expr, Index, Site, tests_around, written

_OFF = ("False", "0", "0.0", "0.", "None", "")
_NOTHING = {"false", "0", "0.0", "0.", "none", "", "null"}
_SCRIPTS = (".sh", ".bash", ".md", ".rst", ".txt", ".ipynb")


def left_off(index: Index, places: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    """Tests around the places that fail by default: args.amp, args.clip > 0. No script or configuration gives them."""
    tests = (part for place in places for test in tests_around(index, *place) for part in _joined(test))
    return tuple(dict.fromkeys(written(test) for test in tests if _is_off(index, test)))


def _joined(test: Expr) -> Iterator[Expr]:
    """The parts that must all hold."""
    if test.kind == "boolean" and test.text == "and":
        for part in test.parts:
            yield from _joined(part)
    else:
        yield test


def _is_off(index: Index, test: Expr) -> bool:
    if test.kind == "compare" and test.text == "==" and len(test.parts) == 2 and test.parts[1].kind == "string":
        return _is_another(index, *test.parts)
    option = test.parts[0] if test.kind == "compare" and len(test.parts) == 2 else test
    if test.kind == "compare" and (test.text, test.parts[-1].text) not in (
        (">", "0"),
        ("is not", "None"),
        (">", "0.0"),
    ):
        return False
    if option.kind != "path" or "." not in option.text:
        return False
    defaults = {_default(site) for site in index.calls("add_argument") if _names(site, option.last)}
    return bool(defaults) and defaults <= {*_OFF} and not _is_given(index, option.last)


def _is_another(index: Index, option: Expr, value: Expr) -> bool:
    """args.kind == "x", where the default is another word and nothing gives this one."""
    if option.kind != "path" or "." not in option.text:
        return False
    sites = [site for site in index.calls("add_argument") if _names(site, option.last)]
    defaults = [site.call.keyword("default") for site in sites]
    words = {one.text if one is not None and one.kind == "string" else value.text for one in defaults}
    return bool(words) and value.text not in words and not _is_given(index, option.last, value.text)


def _names(site: Site, option: str) -> bool:
    wanted = option.replace("_", "-")
    given = [one.text for one in site.call.arguments if one.kind == "string"]
    return any(text.startswith("-") and text.lstrip("-").replace("_", "-") == wanted for text in given)


def _default(site: Site) -> str:
    default, action = site.call.keyword("default"), site.call.keyword("action")
    if default is not None:
        return default.text if default.kind in ("constant", "number", "string") else "?"
    if action is None:
        return "None" if site.call.keyword("required") is None else "?"
    return {"store_true": "False", "store_false": "True"}.get(action.text, "?")


def _is_given(index: Index, option: str, word: str = "") -> bool:
    """Code or a configuration sets it, or a script or a README gives it; with `word`, that one.

    `self.clip = args.clip` and `self.clip = config["clip"]` hand it on and give nothing.
    """
    name = re.escape(option.encode())
    handed_on = rb"(?:\w+\.)*%s[ \t]*(?:#|$)|[\w.]+\[[\"']%s[\"']\][ \t]*(?:#|$)" % (name, name)
    assigned = re.compile(rb"(?m)\.%s[ \t]*=(?!=)(?![ \t]*(?:%s))" % (name, handed_on))
    written_out = re.compile(rb"(?:[\"']%s[\"'][ \t]*:|\b%s=)[ \t]*(?:True|[1-9])" % (name, name))
    sources = [file.body.source for file in index.files.values()]
    if any(one.holds(assigned) or one.holds(written_out) for one in sources):
        return True
    tables = (table.items() for table in index.configs.values())
    values = {value.value for table in tables for key, value in table if key.rpartition(".")[2] == option}
    if word in values if word else not {value.lower() for value in values} <= _NOTHING:
        return True
    named = re.compile(
        rf"--{re.escape(option).replace('_', '[-_]')}\b" + (rf"[\s=\"']+{re.escape(word)}\b" if word else "")
    )
    texts = (file for file in index.repository.files if file.endswith(_SCRIPTS))
    return any(named.search(index.repository.read(file) or "") for file in texts)
