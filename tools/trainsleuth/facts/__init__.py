"""What source files say, without judgement, and an index that resolves names across them.

    from trainsleuth.repository import Repository
    from trainsleuth.facts import build_index

    index = build_index(Repository("path/to/project"))

Records (`records`): a `FileFacts` has `imports`, `classes`, `functions` (by qualified name; the module body is
`file.body`, a class body is "Net.<class>") and `problems` (lines that are not Python).
A `Function` has `parameters`, `decorators`, `loops` and `events`: its statements in source order, compound ones
as a header. An `Event` has a `kind` (assign, expression for call statements, return, for, if, ...), `targets`,
`value`, `calls` (every call in it, inner first), `line`, and the `block` it stands in: enclosing loop ids, arms
of ifs with their tests, with-items. Expressions are `Expr`; a dotted name is one Expr of kind "path";
`call.callee`, `call.last`, `call.receiver`, `call.argument(0, "input")` read calls, `expr.walk()` gives all
inside, `written(expr)` its text.

    for site in index.calls("backward", "step"):  # any receiver; Site(function, position, call), site.event
        print(site.function.path, site.call.line, site.call.callee, site.event.block.loops)

Names: `index.resolve(function, "F.cross_entropy")` gives External("torch.nn.functional.cross_entropy"), a project
Class or Function, a Module, a Variable, or None.
Classes: `index.lineage(cls)`, `index.external_bases(cls)`, `index.subclasses(cls)`,
`index.method(cls, "forward")`, `index.class_of(function)`.
Configuration: `index.configs[path]["optimizer.lr"]` is a ConfigValue(value, line).

Resolution is narrow, to accuse: what is not unique is not resolved. To acquit, use names alone: `index.calls`.
"""

from .config import ConfigValue
from .index import Index, Site, build_index
from .names import External, Module, Symbol, Variable
from .records import (
    MODULE_BODY,
    Block,
    Branch,
    Class,
    Event,
    Expr,
    FileFacts,
    Function,
    Import,
    Loop,
    Parameter,
)
from .wording import written

__all__ = [
    "MODULE_BODY",
    "Block",
    "Branch",
    "Class",
    "ConfigValue",
    "Event",
    "Expr",
    "External",
    "FileFacts",
    "Function",
    "Import",
    "Index",
    "Loop",
    "Module",
    "Parameter",
    "Site",
    "Symbol",
    "Variable",
    "build_index",
    "written",
]
