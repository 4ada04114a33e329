"""Is a file that the program loads in use: the model beside the chosen one is imported by its package, and never runs."""

from __future__ import annotations

from trainsleuth.facts import FileFacts, Variable, bindings

from ...program import Program


def is_in_use(program: Program, file: FileFacts) -> bool:
    """Code of it runs, it holds no code at all, or another file that is loaded takes a name from it."""
    code = [one for one in file.functions.values() if one is not file.body]
    if not code or any(program.is_reached(one) for one in code):
        return True
    return any(path != file.path and _takes(program, path, file) for path in program.entry.reach.files)


def _takes(program: Program, path: str, file: FileFacts) -> bool:
    """A table by its name, or the file as a whole."""
    other, called = program.index.files[path], file.path.rpartition("/")[2].removesuffix(".py")
    if any(called in (one.name, one.name in ("", "*") and one.module.rpartition(".")[2]) for one in other.imports):
        return True
    for one in other.imports:
        if one.name in bindings(file.body):
            symbol = program.index.resolve(other.body, one.alias)
            if isinstance(symbol, Variable) and symbol.scope is file.body:
                return True
    return False
