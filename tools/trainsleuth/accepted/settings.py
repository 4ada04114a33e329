"""Settings of a repository: the table [tool.trainsleuth] of its pyproject.toml.

[tool.trainsleuth]
only = ["double-softmax"]               # checks to run; all by default
exclude = ["third_party", "legacy/*"]   # folders, files or patterns whose findings are accepted
baseline = "trainsleuth-baseline.json"

[tool.trainsleuth.ignore]
mean-of-batch-means = "batches are all of one size"
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from trainsleuth.finding import Finding
from trainsleuth.repository import Repository, is_under

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = "pyproject.toml"
_KEYS = ("only", "exclude", "ignore", "baseline")


class SettingsError(ValueError):
    """The table cannot be used; the message says which key, what was expected, and what it holds."""


@dataclass(frozen=True)
class Settings:
    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    ignore: Mapping[str, str] = field(default_factory=dict)
    baseline: Path | None = None

    def accepts(self, finding: Finding) -> str:
        """Why a failure does not count here; "" when it does."""
        path = finding.path or ""
        for pattern in self.exclude:
            if is_under(path, pattern.rstrip("/")) or fnmatch(path, pattern):
                return f"{FILE} excludes {pattern}"
        return self.ignore.get(finding.by.removeprefix("check:"), "")


def read_settings(repository: Repository, known: Collection[str]) -> Settings:
    """The settings at the root of the repository; the defaults when it has none. `known`: ids of all checks.

    A file that cannot be read ends the search only when it speaks of us; else it is told as skipped.
    """
    raw = b""
    try:
        raw = (Path(repository.root) / FILE).read_bytes()
        whole = tomllib.loads(raw.decode("utf-8-sig"))
    except FileNotFoundError:
        return Settings()
    except (OSError, ValueError) as error:
        if b"trainsleuth" in raw:
            raise SettingsError(f"{FILE} cannot be read: {error}") from error
        repository.skip(FILE, f"cannot be read: {error}")
        return Settings()
    table = whole.get("tool", {}).get("trainsleuth", {}) if isinstance(whole.get("tool", {}), dict) else {}
    if not isinstance(table, dict):
        raise SettingsError(f"[tool.trainsleuth] in {FILE} is to be a table, not {table!r}")
    return _settings(table, Path(repository.root), known)


def _settings(table: Mapping[str, Any], root: Path, known: Collection[str]) -> Settings:
    for key in table:
        if key not in _KEYS:
            raise SettingsError(f"[tool.trainsleuth] in {FILE} has no key {key!r}; there are {', '.join(_KEYS)}")
    ignore = table.get("ignore", {})
    if not isinstance(ignore, dict) or not all(isinstance(why, str) and why.strip() for why in ignore.values()):
        raise SettingsError(f'[tool.trainsleuth.ignore] in {FILE} gives each check a reason: check-id = "why"')
    only, exclude = _texts(table, "only"), _texts(table, "exclude")
    for id in (*only, *ignore):
        if id not in known:
            raise SettingsError(f"{FILE} names {id!r}, which is no check; there are {', '.join(known)}")
    baseline = table.get("baseline")
    if baseline is not None and not isinstance(baseline, str):
        raise SettingsError(f"baseline in {FILE} is the path of a file, not {baseline!r}")
    return Settings(only, exclude, ignore, root / baseline if baseline else None)


def _texts(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    given = table.get(key, [])
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise SettingsError(f"{key} in {FILE} is a list of texts, not {given!r}")
    return tuple(given)
