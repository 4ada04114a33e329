"""What source files say, without judgement, and an index that resolves names across them.

    from trainsleuth.repository import Repository
    from trainsleuth.facts import build_index

    index = build_index(Repository("path/to/project"))

Records (`records`): a `FileFacts` has `imports`, `classes`, `functions` (by qualified name; the module body
is `file.body`, a class body is "Net.<class>") and `problems` (lines that are not Python). A `Function` has
`parameters`, `decorators`, `loops` and `events`: its statements in source order, compound ones as a header.
An `Event` has a `kind` (assign, expression for call statements, return, for, if, ...), `targets`, `value`,
`calls` (every call in it, inner first), `line`, and the `block` it stands in: enclosing loop ids, arms of
ifs with their tests, with-items. Expressions are `Expr`; a dotted name is one Expr of kind "path";
`call.callee`, `call.last`, `call.receiver`, `call.argument(0, "input")` read calls, `expr.walk()` gives all
inside, `written(expr)` its text.

    for site in index.calls("backward", "step"):  # any receiver; Site(function, position, call), site.event
        print(site.function.path, site.call.line, site.call.callee, site.event.block.loops)

Names: `index.resolve(function, "F.cross_entropy")` gives External("torch.nn.functional.cross_entropy"),
a project Class or Function, a Module, a Variable, or None.
Classes: `index.lineage(cls)`, `index.external_bases(cls)`, `index.subclasses(cls)`,
`index.method(cls, "forward")`, `index.class_of(function)`.
Configuration: `index.configs[path]["optimizer.lr"]` is a ConfigValue(value, line).

Following values: a `Spot` is a place, `Spot(site.function, site.position)`. `index.objects.of(expr, spot)`
gives
every `Thing` an expression may stand for: an `Instance` (of a project Class or an External class, with its
constructor call), a Function, a Method, a Literal, or Unknown with the reason. `index.values.of(expr, spot)`
gives the range (probability, logits, ...) and gradient (live, cut, ...) of a tensor with the chain of places
that made it so. `index.members.of(expr, spot)` lists what a collection holds. `index.calling.targets(call,
spot)` are the functions a call runs, `index.callers(function)` the calls that run it, and
`index.calling.contexts(function)` the consistent ways to get there, as frames for a Spot.
`index.effects.of(function)` says what a call does at any depth (clear, backward, step, eval, train, ...),
with receivers in the caller's words; `rounds(index, spot, optimizer)` the loops around an optimizer step;
`loss_calls(index, "CrossEntropyLoss", ...)` every call that computes such a loss; `trained_losses(index)` every
expression that training minimises, `losses_from` those that some functions may go into; `terms(index, expr, spot)` its summands with their signs, `ingredients`
all that goes into it. `built_optimizers(index)` and `switches(index, function)`: what optimizers own, what is
frozen and thawed. `rank_of(index, expr, spot)`: how many axes a tensor has, where the code says it.

Order: `surroundings(index, spot, call, "backward")` gives the loop or function around a call in which a
backward also happens, at any depth, and from there what runs before and after it; `guards` the tests that
decide on a place. `makers(index, expr, spot)` are the expressions that a name was given,
`derived(function, names, start)` what is computed from names further on.

Data, by the modules of `facts.data`: `loaders` that a loop goes over, the `datasets` that they are made over, their
`workers` and how these are seeded (`seeding`), `samplers` and who tells them the epoch, the `parts` and `splits` of data.

Two widths. Narrow, to accuse: what is not unique and proved is Unknown. Wide, to acquit: by last names alone,
`index.calls`, `index.calls_holding`, `index.functions_named`, `index.effects.may_clear`.
"""

from .build import build_index, keep_facts
from .collection import let_go, no_collection
from .flags import plain_name
from .index import Index
from .naming.libraries import is_for_another, other_library, written_for_another
from .naming.modules import is_module, is_module_class, owns_parameters
from .naming.names import External, Module, Symbol, Variable
from .naming.required import names_packages
from .naming.sites import Site, is_test
from .reading.config import ConfigValue
from .reading.scopes import bindings, encloses, is_made_in, is_sibling, reaching
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
from .running.broken import stop_before
from .running.contradiction import contradict, never_meet
from .running.dead import around, is_dead, is_lesson, left_blank, overridden_by_all, spot_at
from .running.fixed import decided_against, needed_at
from .running.unreached import unreached
from .tensors.arithmetic import Plain, formula, leaves, made_of, plain, value
from .tensors.ingredients import ingredients
from .tensors.losses import LossCall, loss_calls
from .tensors.minimised import Minimised, losses_from, minimised, trained_losses
from .tensors.operations import is_torch
from .tensors.ranks import Rank, axis_of, rank_of
from .tensors.subject import is_function_call, subject
from .tensors.terms import Term, factors, number_sign, terms
from .tensors.values import ENOUGH, TOO_FAR, Value
from .tracing.callers import Target, external_name
from .tracing.making import bound_names, called, constant, derived, made_at, makers, mentions
from .tracing.members import Member
from .tracing.things import Frame, Instance, Literal, Method, Spot, Thing, Unknown
from .training.effects import Effect
from .training.freezing import Switch, own_switches, switches
from .training.modes import is_eval
from .training.optimizers import LISTING, Built, built_optimizers
from .training.order import (
    Surrounding,
    branches_around,
    excludes,
    guards,
    header_of,
    is_every_few,
    is_sure,
    leaves_early,
    loops_around,
    steps_optimizer,
    surroundings,
    unfolded,
)
from .training.roles import is_optimizer, modules_of_optimizer, sounds_like_optimizer, stepped
from .training.rounds import Round, rounds
from .wording import spelled, written

__all__ = [
    "ENOUGH",
    "LISTING",
    "MODULE_BODY",
    "TOO_FAR",
    "Block",
    "Branch",
    "Built",
    "Class",
    "ConfigValue",
    "Effect",
    "Event",
    "Expr",
    "External",
    "FileFacts",
    "Frame",
    "Function",
    "Import",
    "Index",
    "Instance",
    "Literal",
    "Loop",
    "LossCall",
    "Member",
    "Method",
    "Minimised",
    "Module",
    "Parameter",
    "Plain",
    "Rank",
    "Round",
    "Site",
    "Spot",
    "Surrounding",
    "Switch",
    "Symbol",
    "Target",
    "Term",
    "Thing",
    "Unknown",
    "Value",
    "Variable",
    "around",
    "axis_of",
    "bindings",
    "bound_names",
    "branches_around",
    "build_index",
    "built_optimizers",
    "called",
    "constant",
    "contradict",
    "decided_against",
    "derived",
    "encloses",
    "excludes",
    "external_name",
    "factors",
    "formula",
    "guards",
    "header_of",
    "ingredients",
    "is_dead",
    "is_eval",
    "is_every_few",
    "is_for_another",
    "is_function_call",
    "is_lesson",
    "is_made_in",
    "is_module",
    "is_module_class",
    "is_optimizer",
    "is_sibling",
    "is_sure",
    "is_test",
    "is_torch",
    "keep_facts",
    "leaves",
    "leaves_early",
    "left_blank",
    "let_go",
    "loops_around",
    "loss_calls",
    "losses_from",
    "made_at",
    "made_of",
    "makers",
    "mentions",
    "minimised",
    "modules_of_optimizer",
    "names_packages",
    "needed_at",
    "never_meet",
    "no_collection",
    "number_sign",
    "other_library",
    "overridden_by_all",
    "own_switches",
    "owns_parameters",
    "plain",
    "plain_name",
    "rank_of",
    "reaching",
    "rounds",
    "sounds_like_optimizer",
    "spelled",
    "spot_at",
    "stepped",
    "steps_optimizer",
    "stop_before",
    "subject",
    "surroundings",
    "switches",
    "terms",
    "trained_losses",
    "unfolded",
    "unreached",
    "value",
    "written",
    "written_for_another",
]
