"""Which configuration files a program reads, in the order in which later ones override."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from trainsleuth.facts import Expr, Function, Index
from trainsleuth.repository import is_under

from .launch import Command
from .reach import Reach

MAX_FILES = 30
_DEFAULTS = re.compile(r"^defaults\.\d+(?:\.(.+))?$")
_MENTIONED = re.compile(r"[\w./-]+\.(?:ya?ml|json|py)\b|(?<=config-name[= ])[\w./-]+")
_BASES = re.compile(
    r"^(?:_base_|__base__|_?base_(?:config|cfg)_?|_base|includes?|inherits?|inherit_from|extends|parent)(?:\.\d+)?$",
    re.I,
)
_IS_DEFAULT = re.compile(r"(?:^|[_-])(?:defaults?|base)(?:$|[_-])", re.I)
_FOLDERS = ("configs", "config", "conf", "cfgs")


def of_program(index: Index, reached: Reach, commands: Iterable[Command], recipe: str | None) -> tuple[str, ...]:
    """Paths of configuration files, base first. `recipe` is a path among `index.configs`."""
    found: dict[str, None] = {}
    roots = list(_hydra_roots(index, reached))
    if recipe is not None and not any(is_under(recipe, root) for root, _ in roots):
        roots = []  # it takes the place of the file that the program starts from
    for root, start in roots:
        found.update(dict.fromkeys(follow_defaults(index, start, root)))
    if recipe is not None:
        if not roots:
            in_code = _named_in_code(index, reached)
            found.update(dict.fromkeys(one for one in in_code if _IS_DEFAULT.search(PurePosixPath(one).stem)))
        root = next((root for root, _ in roots if recipe.startswith(root + "/")), _package_root(index, recipe))
        found.update(dict.fromkeys(follow_defaults(index, recipe, root)))
        return tuple(found)[-MAX_FILES:]
    found.update(dict.fromkeys(_named_in_code(index, reached)))
    for command in commands:
        folder = str(PurePosixPath(command.path).parent)
        named = [one for path in _named_in(index, command.text, folder) for one in _with_bases(index, path)]
        found = {**{path: None for path in found if path not in named}, **dict.fromkeys(named)}
        if named:
            break  # the first command that names a configuration stands for the rest
    if not found:
        found.update(dict.fromkeys(_beside(index, reached)))
    return tuple(found)[:MAX_FILES]


def own_root(index: Index, reached: Reach, paths: Iterable[str]) -> str:
    """The folder that a command gives in place of hydra's own (--config-dir), "" when all `paths` lie in the latter."""
    roots = [root for root, _ in _hydra_roots(index, reached)]
    outside = [path for path in paths if roots and not any(is_under(path, root) for root in roots)]
    return min((str(PurePosixPath(path).parent) for path in outside), key=len, default="")


def _hydra_roots(index: Index, reached: Reach) -> Iterator[tuple[str, str]]:
    """(configuration folder, first file) of every hydra-like main of the files that are started."""
    paths = dict.fromkeys(root.path for root in reached.roots)
    mains = [
        (function, decorator)
        for path in (*paths, *sorted(reached.files - paths.keys()))
        for function in index.files[path].functions.values()
        for decorator in function.decorators
        if decorator.kind == "call" and (decorator.keyword("config_path") or decorator.keyword("config_name"))
    ]
    for function, decorator in mains[:1]:
        folder, name = decorator.keyword("config_path"), decorator.keyword("config_name")
        if folder is None or folder.kind != "string":
            root = _join_path(index, function, folder)
        else:
            root = _normal(str(PurePosixPath(function.path).parent / folder.text))
        if root in index.configs:  # older hydra: the path names the file itself
            yield str(PurePosixPath(root).parent), root
            continue
        start = _file(index, root, name.text if name is not None and name.kind == "string" else "config")
        if start is not None:
            yield root, start


def _join_path(index: Index, function: Function, folder: Expr | None) -> str:
    """config_path=os.path.join("..", "fairseq", "config"): the folder that ends in its literal parts."""
    parts = [part.text for part in folder.parts if part.kind == "string"] if folder is not None else []
    tail = "/".join(part for part in parts if part not in ("..", "."))
    folders = {str(PurePosixPath(path).parent) for path in index.configs}
    fits = sorted(folder for folder in folders if tail and (folder == tail or folder.endswith("/" + tail)))
    return fits[0] if fits else str(PurePosixPath(function.path).parent)


def follow_defaults(index: Index, start: str, root: str) -> Iterator[str]:
    """`start` and the files of its defaults list, in the order in which hydra composes them."""
    yield from _follow(index, start, root, set())


def _follow(index: Index, path: str, root: str, seen: set[str]) -> Iterator[str]:
    if path in seen or path not in index.configs:
        return
    seen.add(path)
    last = True
    for key, value in index.configs[path].items():
        if _BASES.match(key):
            folders = (*map(str, PurePosixPath(path).parents), root)
            bases = (_file(index, folder, value.value) for folder in folders)
            yield from _follow(index, next(filter(None, bases), path), root, seen)
            continue
        match = _DEFAULTS.match(key)
        if match is None:
            continue
        if match[1] is None and value.value == "_self_":
            last = False
            yield path
            continue
        chosen = _default(index, path, root, match[1], value.value)
        if chosen is not None:
            yield from _follow(index, chosen, root, seen)
    if last:
        yield path


def _with_bases(index: Index, path: str) -> Iterator[str]:
    """`path` behind the files that it builds on, as far as it says so by their paths."""
    yield from _follow(index, path, _package_root(index, path), set())


def _default(index: Index, path: str, root: str, group: str | None, value: str) -> str | None:
    if value in ("null", "???", "None", "") or "${" in value:
        return None
    words = (group or "").replace("override ", "").replace("optional ", "").partition("@")[0].strip()
    here = str(PurePosixPath(path).parent)
    name = f"{words.lstrip('/')}/{value}" if group else value.lstrip("/")
    absolute = words.startswith("/") or value.startswith("/")
    folders = [str(folder) for folder in PurePosixPath(path).parents if is_under(str(folder), root)]
    for base in (root,) if absolute else (here, *folders, root):
        if (found := _file(index, base, name)) is not None:
            return found
    return None


def _file(index: Index, folder: str, name: str) -> str | None:
    stem = _normal(f"{folder}/{name}")
    return next((path for path in (stem, f"{stem}.yaml", f"{stem}.yml") if path in index.configs), None)


def _named_in_code(index: Index, reached: Reach) -> Iterator[str]:
    """String literals of reached code that are the path of a configuration file."""
    for function in reached.distance:
        if not function.source.holds(_CONFIG_NAME):
            continue
        folder = str(PurePosixPath(function.path).parent)
        for event in function.events:
            for expr in (event.value, *(parameter.default for parameter in function.parameters)):
                for part in expr.walk() if expr is not None and (event.calls or event.kind == "assign") else ():
                    if part.kind == "string" and part.text.endswith((".yaml", ".yml", ".json")):
                        yield from _named_in(index, part.text, folder)


_CONFIG_NAME = re.compile(rb"\.(?:ya?ml|json)")


def _named_in(index: Index, text: str, folder: str) -> Iterator[str]:
    for word in _MENTIONED.findall(text):
        for base in (folder, "."):
            path = _normal(f"{base}/{word}")
            found = next((p for p in (path, path + ".yaml") if p in index.configs), None)
            if found is not None:
                yield found
                break
        else:
            tail = word.lstrip("./")
            fits = [path for path in index.configs if path.endswith(("/" + tail, f"/{tail}.yaml"))]
            near = [one for one in fits if str(PurePosixPath(one).parent) in _beside_code(folder)]
            if len(fits) == 1 or len(near) == 1:
                yield (near or fits)[0]


def _beside_code(folder: str) -> tuple[str, ...]:
    """Folders of configurations that code in `folder` means by os.path.join(here, "..", "configs")."""
    above = str(PurePosixPath(folder).parent)
    return tuple(_normal(f"{base}/{name}") for base in (folder, above) for name in _FOLDERS)


def _beside(index: Index, reached: Reach) -> Iterator[str]:
    home = str(PurePosixPath(reached.roots[0].path).parent)
    for path in sorted(index.configs):
        name = PurePosixPath(path).name.lower()
        beside = str(PurePosixPath(path).parent) in (home, f"{home}/configs", f"{home}/config", "configs", "config")
        if beside and re.search(r"conf|train|default|base|param", name) and len(index.configs[path]) > 2:
            yield path
            return


def _package_root(index: Index, recipe: str) -> str:
    """The highest folder above a recipe that is called like a configuration folder."""
    for parent in reversed(PurePosixPath(recipe).parents):
        if parent.name.lower() in ("config", "configs", "conf", "hydra", "yamls", "cfg", "cfgs"):
            return str(parent)
    return str(PurePosixPath(recipe).parent)


def _normal(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", ".", ".."):
            parts.append(part)
    return "/".join(parts)
