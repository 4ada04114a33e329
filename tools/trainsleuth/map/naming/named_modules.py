"""Modules that are imported under a name from a setting: __import__(config["model"]), import_module(f"models.{name}")."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import zip_longest

from trainsleuth.facts import Class, Expr, External, Function, Index, Module, Site, Variable
from trainsleuth.facts.reading.scopes import bindings

from ..launching.launch_targets import in_checkout
from ..recipe.branches import Settled, is_not_chosen, value_of
from ..recipe.recipes import Setting
from .attributes import asked_keys
from .only_values import held_by_variable

Place = tuple[str, int]  # path and line of the import
MAX_FITTING = 64  # modules that one import may load: of more nothing is said
MOST_SET = 6  # files that settings give
FEW = 3  # modules that a class is looked for in by the module's own name
_IMPORTS = ("import_module", "__import__")
_LOADS = ("module_from_spec", "load_module", "load_source", "run_path")  # a file by its path
IMPORTERS = (*_IMPORTS, *_LOADS)
_LOOKS_UP = "getattr"
_BY_PATH = ("load_source", "spec_from_file_location", "SourceFileLoader")  # as the second argument
_TEMPLATES = (
    re.compile(rb"(?:import_module|__import__)\(\s*[fF]\"([^\"\n]+)\""),
    re.compile(rb"(?:import_module|__import__)\(\s*[fF]'([^'\n]+)'"),
)
_HOLE = re.compile(r"\{[^{}]*\}|%s")


def named_modules(
    index: Index,
    given: Iterable[Setting],
    reached: Collection[Function] = (),
    words: Collection[str] = (),
    decided: Mapping[str, str] | None = None,
) -> dict[Place, tuple[Module, ...]]:
    """The project's module that each import by a setting loads, as far as the setting's value is known. `decided` are
    settings and parameters that decide which of several names it has.

    Where it is not, every one that fits a name in parts, of the imports in functions that are `reached`; of several
    those that `words` of the command name.
    """
    every = list(given)
    values = {setting.key.rpartition(".")[2]: setting.value for setting in every}
    values.update((setting.key, setting.value) for setting in every)
    found = {}
    for site in index.calls(*_IMPORTS):
        if site.call.arguments and site.call.arguments[0].kind != "string":
            path = site.function.path
            pieces = _pieces(site.call.arguments[0], index, site, decided or {})
            modules = tuple(_fitting(index, path, list(_parts(index, site, pieces, values)), words))
            if not modules and site.function in reached:
                modules = tuple(_fitting(index, path, list(_parts(index, site, pieces, {})), words))
            if not modules and site.function in reached:
                modules = given_files(index, words) or _handed_files(index, site.function, reached)
            if modules:
                found[path, site.call.line] = modules
    found.update(_loaded(index, values, reached, words))
    found.update(_looked_up(index, values))
    return found


def _looked_up(index: Index, values: Mapping[str, str]) -> Iterator[tuple[Place, tuple[Module, ...]]]:
    """The module of a package that a setting names: getattr(programs, cfg.program).main()"""
    for site in index.calls(_LOOKS_UP):
        package, name = (*site.call.arguments, None, None)[:2]
        if package is not None and name is not None and package.kind == "path" and name.kind != "string":
            held = index.resolve(site.function, package.text)
            asked = _part(index, site, values, name) if isinstance(held, Module) else None
            module = index.names.member(held, asked) if isinstance(held, Module) and asked else None
            if isinstance(module, Module) and module.path:
                yield (site.function.path, site.call.line), (module,)


def _loaded(
    index: Index, values: Mapping[str, str], reached: Collection[Function], words: Collection[str]
) -> Iterator[tuple[Place, tuple[Module, ...]]]:
    """What imports of files by their paths load: by the path that a setting gives, else the file of the command."""
    named: dict[Function, set[str]] = {}
    for site in index.calls(*_BY_PATH):
        named.setdefault(site.function, set()).update(_file(index, site, values))
    for site in index.calls(*_LOADS):
        own = _file(index, site, values) if site.call.last in _BY_PATH else named.get(site.function, ())
        if len(own) == 1:
            yield (site.function.path, site.call.line), tuple(Module(path, "") for path in own)
        elif site.function in reached and (files := given_files(index, words) or _set_files(index, values)):
            yield (site.function.path, site.call.line), files


def _file(index: Index, site: Site, values: Mapping[str, str]) -> tuple[str, ...]:
    """The file of the project whose path is the second argument, if there is one."""
    name = _part(index, site, values, site.call.arguments[1]) if len(site.call.arguments) > 1 else None
    path = (name or "").removeprefix("./")
    return (path,) if path in index.files else ()


def given_files(index: Index, words: Collection[str]) -> tuple[Module, ...]:
    """The only file of the project that the command hands to the program, itself or by the folder of its configuration:
    train.py -f experiments/small.py, train.py --path=experiments/small where conf.py lies.
    """
    given = dict.fromkeys(word.rpartition("=")[2].removeprefix("./").rstrip("/") for word in words)
    paths = [path for path in given if path.endswith(".py") and path in index.files]
    paths = paths or [f"{one}/{name}" for one in given for name in _CONFIGURATIONS if f"{one}/{name}" in index.files]
    return (Module(paths[0], ""),) if len(paths) == 1 else ()


_CONFIGURATIONS = ("conf.py", "config.py")


def _handed_files(index: Index, function: Function, reached: Collection[Function]) -> tuple[Module, ...]:
    """The only file of the project whose path callers of the function spell: load_net(blueprint), blueprint = "nets/a.py"."""
    found: dict[str, None] = {}
    for site in (one for one in index.calls(function.name) if one.function in reached):
        names = {one.text for one in site.call.arguments if one.kind == "path"}
        bound = (one.value for name in names for one in bindings(site.function).get(name, ()))
        texts = [value.text for value in (*site.call.arguments, *bound) if value is not None and value.kind == "string"]
        for text in (one.removeprefix("./") for one in texts if one.endswith(".py")):
            path = text if text in index.files else in_checkout(index.files, text)
            found.update({path: None} if path is not None and path != function.path else {})
    return tuple(Module(path, "") for path in found) if len(found) == 1 else ()


def _set_files(index: Index, values: Mapping[str, str]) -> tuple[Module, ...]:
    """The few files of the project that settings give: def_file: ./models/resnet.py"""
    given = dict.fromkeys(value.removeprefix("./") for value in values.values() if value.endswith(".py"))
    paths = [path for path in given if path in index.files]
    return tuple(Module(path, "") for path in paths) if len(paths) <= MOST_SET else ()


def sure(modules: Mapping[Place, tuple[Module, ...]]) -> dict[str, list[str]]:
    """The files of those that are the only one to fit, by the file that imports them."""
    found: dict[str, list[str]] = {}
    for (path, _), fits in modules.items():
        if len(fits) == 1 and fits[0].path:
            found.setdefault(path, []).append(fits[0].path)
    return found


def _parts(index: Index, site: Site, pieces: Iterable[str | Expr], values: Mapping[str, str]) -> Iterator[str | None]:
    """The name that is imported, in parts; None for one whose value is not known."""
    for piece in pieces:
        if isinstance(piece, str):
            yield from [piece] if piece else []
        else:
            yield _part(index, site, values, piece)


def _part(index: Index, site: Site, values: Mapping[str, str], piece: Expr) -> str | None:
    if piece.kind == "string":
        return piece.text
    piece, spelled = _spelling(site.function, piece)
    keys = [known for key in asked_keys(index, site, piece) for known in (key, key.rpartition(".")[2])]
    return next((spelled(values[key]) for key in keys if values.get(key)), None)


def _spelling(function: Function, piece: Expr) -> tuple[Expr, Callable[[str], str]]:
    """What a name is made of when only its letters are changed: name = cfg.method.lower()."""
    bound = bindings(function).get(piece.text, ()) if piece.kind == "path" else ()
    made = bound[0].value if len(bound) == 1 else piece
    if made is not None and made.kind == "call" and made.last in _SPELLED and made.receiver is not None:
        return (made.receiver, _SPELLED[made.last]) if not made.arguments else (piece, str)
    return piece, str


_SPELLED: Mapping[str, Callable[[str], str]] = {"lower": str.lower, "upper": str.upper, "strip": str.strip}


def _pieces(asked: Expr, index: Index, site: Site, decided: Mapping[str, str]) -> list[str | Expr]:
    """What is written, and what is put in: f"jobs.{name}", "jobs." + name, "jobs.{}".format(name), "jobs.%s" % name,
    ".".join(["jobs", name]).
    """
    settled = Settled(decided, index, site.function)
    name = _said(settled, asked)
    template, given = "", list(name.parts)
    if name.kind == "format":
        template = _template(site) if name is asked else _above(index, site.function.path, name)
    elif name.kind == "call" and name.last == "format" and name.receiver is not None:
        template, given = name.receiver.text if name.receiver.kind == "string" else "", list(name.arguments)
    elif name.kind == "binary" and name.text == "%" and name.parts[0].kind == "string":
        template = name.parts[0].text
        given = list(name.parts[1].parts) if name.parts[1].kind == "tuple" else [name.parts[1]]
    elif (linked := _linked(name)) is not None:
        return list(_joined(settled, *linked))
    else:
        return list(_added(name))
    literals = _HOLE.split(template)
    if len(literals) != len(given) + 1:
        return []
    return [piece for pair in zip_longest(literals, given) for piece in pair if piece is not None]


def _linked(name: Expr) -> tuple[str, tuple[Expr, ...]] | None:
    """Of ".".join(["a", b]) the link and what it links."""
    given = name.arguments[0] if name.kind == "call" and name.last == "join" and len(name.arguments) == 1 else None
    link = name.receiver
    if given is None or given.kind not in ("list", "tuple") or link is None or link.kind != "string":
        return None
    return link.text, given.parts


def _joined(settled: Settled, link: str, parts: tuple[Expr, ...]) -> Iterator[str | Expr]:
    for place, part in enumerate(parts):
        yield from [link] if place else []
        yield from _added(_said(settled, part))


def _template(site: Site) -> str:
    """Of the f-string in the call; "" where the function has others that are not told apart."""
    templates = [one.decode() for pattern in _TEMPLATES for one in site.function.source.found(pattern)]
    calls = (call for event in site.function.events for call in event.calls if call.last in _IMPORTS)
    written = [call for call in calls if call.arguments and call.arguments[0].kind == "format"]
    if len(templates) == len(written) and site.call in written:
        return templates[written.index(site.call)]
    return templates[0] if len(templates) == 1 else ""


def _above(index: Index, path: str, name: Expr) -> str:
    """Of an f-string that a name is bound to: its line is read again."""
    lines = (index.repository.read(path) or "").split("\n")
    found = [match[2] for match in _F_STRING.finditer(lines[name.line - 1])] if name.line <= len(lines) else []
    fits = [one for one in found if len(_HOLE.findall(one)) == len(name.parts)]
    return fits[0] if len(fits) == 1 else ""


_F_STRING = re.compile(r"\b[fF]([\"'])(.*?)\1")


def _said(settled: Settled, name: Expr) -> Expr:
    """What a name is bound to that is put together first: filename = "models." + name + "_model"; the arm that is. Of
    several bindings the one that settings leave.
    """
    if name.kind == "choice":
        return next((part for part in name.parts if part.kind in ("binary", "format")), name)
    function = settled.function
    bound = list(bindings(function).get(name.text, ())) if name.kind == "path" else []
    if len(bound) > 1:
        bound = [one for one in bound if not is_not_chosen(function.events[one.position], settled)]
    value = bound[0].value if len(bound) == 1 and not bound[0].items else None
    if value is not None and value.kind == "index" and (entry := _under_key(settled, value)) is not None:
        return entry
    is_made = value is not None and (
        value.kind in ("binary", "format", "string") or value.last == "format" or _linked(value) is not None
    )
    return value if value is not None and is_made else name


def _under_key(settled: Settled, asked: Expr) -> Expr | None:
    """The text that a table of the module has under a key whose value is known: MODULES[task]"""
    held = held_by_variable(settled.facts, settled.function, asked.parts[0])
    written = held[1] if held is not None else None
    word = value_of(asked.parts[-1], settled) if written is not None and written.kind == "dict" else None
    pairs = (pair.parts for pair in written.parts if pair.kind == "pair") if written is not None and word else ()
    return next((text for key, text in pairs if key.text.lower() == word and text.kind == "string"), None)


def _added(name: Expr) -> Iterator[Expr]:
    """The links of "a." + b + "c"."""
    if name.kind == "binary" and name.text == "+":
        for part in name.parts:
            yield from _added(part)
    else:
        yield name


def _fitting(index: Index, importer: str, parts: list[str | None], words: Collection[str]) -> Iterator[Module]:
    if not parts or parts[0] is None:
        return
    if None not in parts:
        module = _module(index, importer, "".join(part for part in parts if part is not None))
        yield from [module] if module is not None and module.path else []
        return
    named = "".join(r"(\w+)" if part is None else re.escape(part.replace(".", "/")) for part in parts).lstrip("/")
    fits = re.compile(rf"(?:.*/)?{named}(?:/__init__)?\.py")
    found = {path: match.groups() for path in index.files if (match := fits.fullmatch(path)) is not None}
    spelled = {*words, *(word.lower() for word in words)}
    paths = [path for path, holes in found.items() if spelled.issuperset(holes)]
    paths = paths or _in_a_word(words, found) or list(found)
    near = [module.path for path in paths if (module := _module(index, importer, _dotted(parts, found[path])))]
    paths = [path for path in paths if path in near] or paths  # of those in several folders
    if len(paths) <= MAX_FITTING:
        yield from (Module(path, path.rpartition("/")[0] if path.endswith("/__init__.py") else "") for path in paths)


def _module(index: Index, importer: str, name: str) -> Module | None:
    """By its dotted name; ".nets.small" is looked for beside the file that imports it."""
    below = name.lstrip(".")
    return (
        index.names.module(importer, below, len(name) - len(below)) if below.replace(".", "_").isidentifier() else None
    )


def _in_a_word(words: Collection[str], found: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The only file whose names are links of one word of the command: nets/small.py of --model vae_small_kl."""
    links = [set(word.lower().split("_")) for word in words if "_" in word]
    fit = [path for path, holes in found.items() if any(one.issuperset(holes) for one in links)]
    return fit if len(fit) == 1 else []


def _dotted(parts: list[str | None], holes: tuple[str, ...]) -> str:
    filled = iter(holes)
    return "".join(next(filled) if part is None else part for part in parts)


def _is_inside(place: Place, function: Function) -> bool:
    return place[0] == function.path and function.line <= place[1] <= function.end_line


def members(
    index: Index, modules: Mapping[Place, tuple[Module, ...]], function: Function, expr: Expr
) -> tuple[Class | Function | External, ...]:
    """What `model.Generator` or getattr(model, "Generator") is where `model` is such a module, or may be."""
    receiver, name = expr.receiver, expr.last
    if expr.kind == "call":
        receiver, asked = (*expr.arguments, None, None)[:2]
        name = asked.text if asked is not None and asked.kind == "string" else ""
    if receiver is None:
        return ()
    if not name:
        return _called_like_it(index, frozenset(loaded_as(index, modules, function, receiver)))
    found = (index.names.member(module, name) for module in loaded_as(index, modules, function, receiver))
    return tuple(one for one in found if isinstance(one, Class | Function | External))


def _called_like_it(index: Index, loaded: frozenset[Module]) -> tuple[Class, ...]:
    """Of few modules that may be loaded the class that has the module's name: DIV2K of data/div2k.py. Of only one the few
    that have it in their names as well: Encoder_GRU and Decoder_GRU of nets/gru.py.
    """
    stems = {one.path: one.path.rpartition("/")[2].removesuffix(".py").replace("_", "").lower() for one in loaded}
    found = [(path, cls) for path in sorted(stems) for cls in index.files[path].classes.values()]
    same = tuple(cls for path, cls in found if cls.name.lower() == stems[path]) if len(stems) <= FEW else ()
    akin = tuple(cls for path, cls in found if stems[path] in cls.name.lower()) if len(stems) == 1 else ()
    return same or (akin if len(akin) <= FEW else ())


def loaded_as(
    index: Index, modules: Mapping[Place, tuple[Module, ...]], function: Function, expr: Expr
) -> Iterator[Module]:
    """The modules that the expression may be: it imports one itself, or by the name that is bound to it."""
    where, imports, scope = function.path, [expr], function
    if expr.kind == "call" and expr.last == _LOOKS_UP:
        yield from modules.get((where, expr.line), ())
        return
    if expr.kind == "call" and expr.last not in IMPORTERS:
        giver = index.resolve(function, expr.callee) if expr.callee else None
        if isinstance(giver, Function):
            yield from (one for place, fits in modules.items() if _is_inside(place, giver) for one in fits)
        return
    if expr.kind != "call":
        held = index.resolve(function, expr.text) if expr.kind == "path" else None
        if not isinstance(held, Variable):
            return
        where, scope = held.scope.path, held.scope
        imports = [b.value for b in bindings(held.scope).get(held.name, ()) if b.value is not None]
    for value in imports:
        named = value.arguments[0].text if value.arguments and value.arguments[0].kind == "string" else ""
        if value.last in _IMPORTS and named:
            module = index.names.module(where, named)
            yield from [module] if module is not None and module.path else []
        elif value.last in IMPORTERS:
            yield from modules.get((where, value.line), ())
        elif value.kind == "call":  # net = load_net(blueprint), net.Model()
            yield from loaded_as(index, modules, scope, value)
