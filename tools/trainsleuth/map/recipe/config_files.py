"""Which configuration files a program reads, in the order in which later ones override."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import PurePosixPath

from trainsleuth.facts import Expr, Function, Index, bindings
from trainsleuth.facts.reading.config import ConfigValue
from trainsleuth.repository import CONFIG_SUFFIXES, PLAIN_SUFFIXES, is_under

from ..calling.graph import Graph
from ..calling.reach import Reach
from ..configuration.forms.given_to_base import base_files
from ..configuration.forms.imported_settings import taken
from ..launching.command_words import words_behind
from ..launching.environment import exported
from ..launching.launch import Command, folder_of, that_counts
from ..launching.misspelled import ending_otherwise
from ..programs.running import is_guarded
from .branches import HOLDS
from .composition import Found, Part, composed, config_file, entries_of, file_of, normal
from .given_parameters import is_never_asked
from .hydra_main import of_main, own_root
from .sections_read import sections_read

MAX_FILES = 40
MAX_COMPOSED = 400  # by Hydra, whose lists say outright what belongs to a run
_MENTIONED = re.compile(
    r"(?<![\w./-])(?:[\w./-]|\+\+|(?<=\w)\+(?=\w)){1,300}\.(?:ya?ml|json|py|toml|ini|conf|cfg|gin|txt)\b|(?<=config-name[= ])[\w./-]+"
)
_BASES = re.compile(
    r"^_*(?:(?:base|parent|defaults?)_(?:config|cfg|ya?ml|file)|base|parent|configs|includes?|imports?|inherits?|inherit_from|extends)_*(?:\.\d+)?$",
    re.I,
)
_IS_DEFAULT = re.compile(r"(?:^|[_-])(?:defaults?|base)(?:$|[_-])", re.I)
_FOLDERS = ("configs", "config", "conf", "cfgs")


def of_program(graph: Graph, reached: Reach, commands: Iterable[Command], recipe: str | None) -> tuple[Part, ...]:
    """Configuration files with the keys under which they stand, base first. `recipe` is among the configurations."""
    index = graph.index
    tried = tuple(commands)
    found = list(of_main(index, reached, that_counts(tried, recipe), recipe))
    most = MAX_COMPOSED if found else MAX_FILES
    if recipe is not None:
        if not found:
            in_code = _named_in_code(graph, reached)
            found.extend(one for one in in_code if _IS_DEFAULT.search(PurePosixPath(one.path).stem))
            found.extend(_above(index, reached, recipe))
            found.extend(with_bases(index, recipe, own_root(index, reached)))
        return tuple(dict.fromkeys(found))[-most:]
    composed = {part.path for part in found}
    given = [one for one in tried if one.text and not one.path]  # by the caller: other commands start other runs
    named: list[Part] = []
    for command in (given or tried) if not composed else ():
        folder = folder_of(command)
        values = (one.value for one in exported(index, reached.distance, command))
        paths = [path for text in (command.text, *values) for path in named_in(index, text, folder, True)]
        paths = paths or list(_in_folders(index, words_behind(command.text), folder))
        if named := [part for path in paths for part in with_bases(index, path)]:
            break  # the first command that names a configuration stands for the rest
    read = [one for one in _named_in_code(graph, reached) if one.path not in composed]
    if composed and (root := file_of(found[-1].path).rpartition("/")[0]):  # of Hydra's folder it has what belongs to it
        read = [one for one in read if not is_under(one.path, root)]
    if given and named:  # what other code of a large program reads is for its other runs
        read = [one for one in read if _IS_DEFAULT.search(PurePosixPath(one.path).stem)]
    whole = {one.path for one in (*read, *named) if not one.taken}
    read = [one for one in read if not one.taken or one.path not in whole]
    found.extend(part for one in read for part in _bases(index, one, _package_root(index, one.path), set()))
    found = [part for part in found if part not in named] + named
    if not found and not given:  # else the caller says what there is
        found.extend(Part(one) for one in _beside(index, reached))
    return tuple(dict.fromkeys(found))[:most]


def with_bases(index: Index, path: str, more: tuple[str, ...] = ()) -> Iterator[Part]:
    """`path` behind the files that it builds on, as far as it says so: by their paths, or by a defaults list.

    The files of its defaults list lie beside it, above it as far as there are configurations, or in the folders `more`.
    """
    top = _package_root(index, path)
    above = [str(folder) for folder in PurePosixPath(path).parents if is_under(str(folder), top)]
    if any(True for _ in entries_of(index.configs[path])):
        yield from composed(index, Found((*above, *more)), path, {}).parts
    else:
        yield from _bases(index, Part(path), top, set())


_RECURSIVE = re.compile(rb"\bload\([^()\n]*\brecursive\s*=\s*True")


def _above(index: Index, reached: Reach, recipe: str) -> Iterator[Part]:
    """The defaults of every folder above, where the program reads them first: configs.load(path, recursive=True)."""
    if any(function.source.holds(_RECURSIVE) for function in reached.distance):
        for folder in reversed(PurePosixPath(recipe).parents):
            base = next(filter(None, (config_file(index, str(folder), name) for name in ("default", "defaults"))), None)
            if base is not None and base != recipe:
                yield Part(base)


def _bases(index: Index, part: Part, root: str, seen: set[Part]) -> Iterator[Part]:
    """`part` behind what it names as its bases, and what it takes from other files of settings."""
    path = part.path
    if part in seen:
        return
    seen.add(part)
    for key, value in index.configs[path].items():
        if _BASES.match(key):
            if (base := _above_or_in(index, path, root, value.value)) is not None:
                yield from _bases(index, Part(base), root, seen)
    yield from _sections(index, part)
    yield from _bases_of_sections(index, part, root)
    for base in base_files(index, path):
        yield from _bases(index, Part(base), root, seen)
    for one in taken(index, path):
        renamed = dict(part.taken).get(one.here) if part.taken else one.here
        if renamed is not None:
            yield from _bases(
                index, Part(one.path, taken=((one.name, renamed),) if one.name else part.taken), root, seen
            )
    yield part


def _above_or_in(index: Index, path: str, root: str, name: str) -> str | None:
    """The file that `path` calls so: from a folder above it, the nearest first, or from `root`."""
    folders = (*map(str, PurePosixPath(path).parents), root)
    return next(filter(None, (config_file(index, folder, name) for folder in folders)), None)


def _bases_of_sections(index: Index, part: Part, root: str) -> Iterator[Part]:
    """Files on which one section builds: DATA_CONFIG: {_BASE_CONFIG_: cfgs/kitti.yaml}."""
    for key, value in index.configs[part.path].items():
        section, _, name = key.rpartition(".")
        if section and _OF_SECTION.match(name) and value.value.endswith(CONFIG_SUFFIXES):
            base = _above_or_in(index, part.path, root, value.value)
            if base is not None and base != part.path:
                yield Part(base, f"{part.package}.{section}" if part.package else section)


_OF_SECTION = re.compile(r"^_+base_(?:config|cfg|ya?ml|file)_+$", re.I)


def _sections(index: Index, part: Part) -> Iterator[Part]:
    """Files that say what a section of a command line interface of Lightning is: model: model.yaml"""
    folder = str(PurePosixPath(part.path).parent)
    named = {key: one.value for key, one in index.configs[part.path].items() if key in _OF_LIGHTNING}
    found = {key: config_file(index, folder, value) for key, value in named.items() if value.endswith(CONFIG_SUFFIXES)}
    if any(path is not None and "class_path" in index.configs[path] for path in found.values()):
        yield from (Part(path, key) for key, path in found.items() if path is not None)


_OF_LIGHTNING = ("model", "data", "trainer", "optimizer", "lr_scheduler")


def _named_in_code(graph: Graph, reached: Reach) -> Iterator[Part]:
    """Configuration files whose path is a string literal of reached code, or that it imports; of one that a part of the
    program reads for itself what it takes.
    """
    index = graph.index
    started = {root.path for root in reached.roots}
    for function in reached.distance:
        if "pretrained" in function.name or not function.source.holds(_CONFIG_NAME):
            continue  # the configuration of a model that was saved is none of the program's
        folder = str(PurePosixPath(function.path).parent)
        for event in function.events:
            if function.path not in started and is_guarded(event):
                continue
            for call in event.calls:
                if call.last == "import_module" and call.arguments and call.arguments[0].kind == "string":
                    module = index.names.module(function.path, call.arguments[0].text)
                    yield from [Part(module.path)] if module is not None and module.path in index.configs else []
            for expr in (event.value, *(parameter.default for parameter in function.parameters)):
                read = expr is not None and (event.calls or event.kind == "assign") and not _lists_many(expr)
                for text in _file_names(function, expr) if expr is not None and read else ():
                    found = (one for one in named_in(index, text, folder) if not _sets_nothing(index.configs[one]))
                    own = [one for one in found if "/" in text or not _is_other_file(index, reached, one)]
                    if own and is_never_asked(graph, reached.distance, function, event):
                        continue
                    part = sections_read(index, function, event) if own and function.path not in started else ()
                    yield from (Part(one, taken=part) for one in own)


def _sets_nothing(table: Mapping[str, ConfigValue]) -> bool:
    """A list, which is data, or what conda installs and from where."""
    if "channels.0" in table and any(key.startswith("dependencies.") for key in table):
        return True
    return bool(table) and all(key.partition(".")[0].isdecimal() for key in table)


def _file_names(function: Function, expr: Expr) -> Iterator[str]:
    """Of configurations, with the folders before them: root / "notes" / "a.json", os.path.join(root, "notes", "a.json").

    Not a name alone in a folder that options give, args.data / "a.json": that is another file than one so called here.
    """
    behind: dict[int, str] = {}
    elsewhere: set[int] = set()
    for part in expr.walk():
        given = part.arguments if part.kind == "call" and part.last in ("join", "joinpath") else part.parts
        if (part.kind == "binary" and part.text in ("/", "+")) or given is not part.parts:
            for one, other in pairwise(given):
                before = one.parts[-1] if one.kind == "binary" and one.text == "/" else one
                if before.kind == other.kind == "string" and part.text != "+":
                    behind[id(other)] = f"{behind.get(id(before), before.text)}/"
                elif other.kind == "string" and _is_given(function, given[0]):
                    elsewhere.add(id(other))
    for part in expr.walk():
        if part.kind == "string" and part.text.endswith(CONFIG_SUFFIXES + PLAIN_SUFFIXES):
            text = behind.get(id(part), "") + part.text
            is_default = _IS_DEFAULT.search(PurePosixPath(text).stem) is not None
            if id(part) not in elsewhere or is_default or "/" in text.strip("/"):
                yield text
        default = part.keyword("default") if part.kind == "call" and part.last == "add_argument" else None
        if default is not None and default.kind == "string" and default.text.endswith(".py"):
            yield default.text


def _is_given(function: Function, folder: Expr) -> bool:
    """Options or settings say it: args.data, or a name that is bound to that alone."""
    for part in folder.walk():
        bound = bindings(function).get(part.text, ()) if part.kind == "path" else ()
        value = bound[0].value if len(bound) == 1 else None
        for one in (part, value):
            holder = one.text.split(".")[-2:-1] if one is not None and one.kind == "path" else []
            if any(HOLDS.search(word) for word in holder):
                return True
    return False


def is_of_saved_model(index: Index, path: str) -> bool:
    """What a library writes beside the weights of a model, which says how that was made: no recipe of a training."""
    return path not in index.files and "transformers_version" in index.configs[path]


def _is_other_file(index: Index, reached: Reach, path: str) -> bool:
    """Of a bare name: config.json is written beside many models."""
    return _is_of_others(index, reached, path) or is_of_saved_model(index, path)


def _is_of_others(index: Index, reached: Reach, path: str) -> bool:
    """It lies beside code of which none is reached: a bare name, config.json, means another file."""
    folder = path.rpartition("/")[0]
    beside = [one for one in index.files if one.rpartition("/")[0] == folder and not one.endswith("/__init__.py")]
    return bool(beside) and folder != "" and not any(one in reached.files for one in beside)


def _lists_many(expr: Expr) -> bool:
    """A table of files, none of which it is said to read: old = {"Baichuan": ("configs/a.yaml", "configs/b.yaml")}."""
    if expr.kind not in ("dict", "list", "tuple", "set"):
        return False
    texts = (part.text for part in expr.walk() if part.kind == "string")
    return sum(text.endswith(CONFIG_SUFFIXES) for text in texts) > MOST_LISTED


MOST_LISTED = 3  # configuration files of one display that are read together


_CONFIG_NAME = re.compile(rb"\.(?:ya?ml|json|toml|ini|conf|cfg|gin|txt)\b|import_module\(|\.add_argument\([^)]*\.py\b")


def named_in(index: Index, text: str, folder: str, is_command: bool = False) -> Iterator[str]:
    """Files of settings that a text names, from a folder or the root; a command may mistake their endings."""
    for word in _MENTIONED.findall(text):
        for base in (folder, "."):
            path = normal(f"{base}/{word}")
            found = next((p for p in (path, path + ".yaml") if p in index.configs), None)
            if found is not None:
                yield found
                break
        else:
            tail = _inside(index, word.lstrip("./")) if not word.startswith("/") else _below_root(index, word)
            fits = [path for path in index.configs if path.endswith(("/" + tail, f"/{tail}.yaml"))]
            near = [one for one in fits if str(PurePosixPath(one).parent) in _beside_code(folder)]
            if tail in index.configs:
                yield tail
            elif len(fits) == 1 or len(near) == 1:
                yield (near or fits)[0]
            elif is_command and not fits and len(other := ending_otherwise(index.configs, tail)) == 1:
                yield other[0]


def _in_folders(index: Index, words: Iterable[str], folder: str) -> Iterator[str]:
    """The configuration in Python that lies in a folder which a command names, by its path or by its end that only one has;
    the few files of settings that lie in a folder which is an argument by itself: run.py exp/small, where net.json lies
    """
    files = [path for path in index.configs if path.endswith(_STANDING)]
    for before, word in pairwise(("", *words)):
        named = word.rpartition("=")[2].strip("/")
        if len(named) > SHORTEST and not named.startswith("-"):
            homes = {normal(f"{base}/{named}") for base in (folder, ".")}
            is_alone = not before.startswith("-") and "=" not in word
            inside = [one for one in index.configs if one.rpartition("/")[0] in homes and not one.endswith(".py")]
            yield from sorted(inside) if is_alone and len(inside) <= MOST_INSIDE else ()
            fits = [path for path in files if path.rpartition("/")[0] in homes]
            fits = fits or [path for path in files if f"/{path}".rpartition("/")[0].endswith(f"/{named}")]
            yield from fits if len(fits) == 1 else ()


SHORTEST = 2  # letters of the name of a folder
MOST_INSIDE = 3  # files of settings that a folder of one run holds
_STANDING = ("/conf.py", "/config.py")


def _inside(index: Index, path: str) -> str:
    """Without the folder of the checkout itself: project/configs/a.yaml, where configs/ lies at the root."""
    first, _, rest = path.partition("/")
    is_ours = "/" not in rest or any(one.startswith(f"{first}/") for one in index.repository.files)
    return path if is_ours else rest if rest in index.configs else path


def _below_root(index: Index, path: str) -> str:
    """Of an absolute path of the author's machine the part that is there, of at least a folder and a name."""
    tails = (path.strip("/").split("/")[cut:] for cut in range(path.count("/")))
    known = ("/".join(tail) for tail in tails if len(tail) > 1)
    return next((one for one in known if one in index.configs), path.lstrip("/"))


def _beside_code(folder: str) -> tuple[str, ...]:
    """Folders of configurations that code in `folder` means by os.path.join(here, "..", "configs")."""
    above = str(PurePosixPath(folder).parent)
    return tuple(normal(f"{base}/{name}") for base in (folder, above) for name in _FOLDERS)


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
