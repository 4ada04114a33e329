"""Something that training needs is computed, and nothing reads it.

A term of the loss that is not added, the order that brings sorted sequences back, a causal mask or weights of classes that are
made and not used, boxes that were to move with their picture, an argument that is brought into shape and left: the line that should read it was lost, or reads a neighbour of a like
name. The program runs, and what the
value was to do is not done.

Question to answer: which line was to use the value?

Fix: use it there, or leave it out.

Cannot see: values that are read for another purpose only (a mask that is counted, a loss that is logged), parts of the batch
(see unread-batch-part), attributes.

Bad:
    import torch
    from torch.nn import functional as F

    def train(model, loader, optimizer, beta):
        for x in loader:
            decoded, mean, log_var = model(x)
            recon_loss = F.mse_loss(decoded, x)
            kl_loss = -0.5 * torch.mean(1 + log_var - mean.pow(2) - log_var.exp())
            optimizer.zero_grad()
            recon_loss.backward()
            optimizer.step()

Bad (the order that brings the rows back):
    import torch
    from torch import nn
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(8, 8, batch_first=True)

        def forward(self, words, lengths):
            lengths, order = lengths.sort(descending=True)
            back = torch.argsort(order)
            packed = pack_padded_sequence(words[order], lengths, batch_first=True)
            out, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
            return out

Bad (an argument in a new shape):
    from torch import nn

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.basis = nn.Linear(8, 8)

        def forward(self, weights, norm):
            norm = norm.unsqueeze(-1)
            return self.basis(weights)

Good:
    import torch
    from torch.nn import functional as F

    def train(model, loader, optimizer, beta):
        for x in loader:
            decoded, mean, log_var = model(x)
            recon_loss = F.mse_loss(decoded, x)
            kl_loss = -0.5 * torch.mean(1 + log_var - mean.pow(2) - log_var.exp())
            optimizer.zero_grad()
            (recon_loss + beta * kl_loss).backward()
            optimizer.step()

Good (the order that brings the rows back):
    import torch
    from torch import nn
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(8, 8, batch_first=True)

        def forward(self, words, lengths):
            lengths, order = lengths.sort(descending=True)
            back = torch.argsort(order)
            packed = pack_padded_sequence(words[order], lengths, batch_first=True)
            out, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
            return out[back]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainsleuth.facts import MODULE_BODY, Expr, Function, Index, bindings, is_test, written
from trainsleuth.facts.memo import kept_per_function
from trainsleuth.facts.reading.scopes import Binding
from trainsleuth.finding import Finding, Link

from ._uses import times_named
from ._verdicts import Verdicts

SAY = Verdicts(
    "value-left-unread",
    "loss",
    "warning",
    "",
    suspects=("another-loss-fault",),
    claims=("adaptive-parts-mask-bugs", "flip-label-bug-still-trains"),
    look="look for the line that should use it: in the paper, in a sibling of this function",
    forms={
        "loss": "a term of the loss",
        "order": "the order that brings rows back",
        "weights": "a mask that is made there, or weights of classes",
        "shaped": "an argument in a new shape",
        "moved": "where something lies when a picture was flipped, cropped or scaled",
        "excluded": "what is to be left out, as the items of training from a ranking",
    },
)
# with a blank before =, as in an assignment and in no argument
_LOSS = re.compile(b"|".join(rb"%s\w*[ \t]+=[^=\n]" % word for word in (b"loss", b"kl", b"bce", b"mse", b"nll")))
_ORDER = re.compile(rb"sort\([^\n]*\n(?:[^\n]*\n){0,4}?[^\n]*sort\(")
_MASK = re.compile(rb"mask[ \t]+=[^=\n][^\n]*(?:[mM]ask\w*|tri[lu])\(")
_WEIGHTS = re.compile(rb"(?:class|cls|pos|sample|label|ce)_weights?[ \t]+=[^=\n]")
_MOVES = re.compile(rb"def \w*(?:flip|crop|resize|rescale|scale|shift|translate|mirror|affine)")
_SHAPED = re.compile(rb"= torch\.unsqueeze\(|= \w+\.unsqueeze\(|= \w+\.permute\(|= \w+\.transpose\(")
_SHAPES = ("unsqueeze", "permute", "transpose")
_IS_MOVING = re.compile(r"flip|crop|resize|scale|shift|translat|mirror|affine", re.IGNORECASE)
_EDGE = re.compile(
    r"^(?:w|h|width|height|left|top|scale|scale_[xywh]|sx|sy|size|[xy]_?(?:offset|shift|scale|off))$|(?:^|_)(?:width|height)$",
    re.IGNORECASE,
)
_EXCLUDED = re.compile(
    b"|".join(
        rb"%s\w*[ \t]+=[^=\n]" % word
        for word in (b"train_items", b"training_items", b"train_pos", b"seen", b"exclude", b"ignore", b"clicked")
    )
)
_IS_EXCLUDED = re.compile(
    r"^(?:\w+_)?(?:train(?:ing)?_(?:items|pos\w*)|seen(?:_\w+)?|excluded?(?:_\w+)?|ignored?_\w+|clicked(?:_\w+)?)$"
)
_IS_LOSS = re.compile(r"(?:^|_)(?:loss|kld?|bce|mse|nll)(?:$|_|\d)|loss$", re.IGNORECASE)
_IS_NO_LOSS = re.compile(r"loss_(?:scale|fn|func|weights?|info|dict)", re.IGNORECASE)
_IS_MASK = re.compile(r"(?:^|_)mask$", re.IGNORECASE)
_IS_WEIGHTS = re.compile(r"^(?:class|cls|pos|sample|label|ce)_weights?$", re.IGNORECASE)
_MASKS = re.compile(r"mask|^tri[lu]$", re.IGNORECASE)
_LOOPS = re.compile(
    r"train|epoch|fit|step|test|val|update|learn|optimi[sz]e|apply|adjust|backward", re.IGNORECASE
)  # what runs a loop, or goes backward, and gives its loss back
_RUNS = ("call", "binary", "unary", "index", "compare")
_SORTS, _ORDERS = ("sort", "argsort"), ("sort", "argsort", "randperm", "permutation", "topk")
_LIBRARIES = ("torch", "np", "numpy")
_CASTS = ("float", "long", "to", "cuda", "type", "detach", "clone", "item", "cpu", "numpy")


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_LOSS, _ORDER, _MASK, _WEIGHTS, _MOVES, _SHAPED, _EXCLUDED):
        if function.name != MODULE_BODY and not is_test(function.path):
            for name, found in bindings(function).items():
                is_own = "." not in name and not name.startswith("_")
                if is_own and len(found) == 1 and (form := _form(function, found[0])):
                    yield _examined(function, found[0], form)
                elif is_own and _IS_EXCLUDED.match(name) and _is_looked_up(function, found):
                    yield _examined(function, found[0], "excluded", len(found))


def _is_looked_up(function: Function, found: Sequence[Binding]) -> bool:
    """train_items[user], or data.positives(user), in one of its arms."""
    values = [function.events[one.position].value for one in found]
    made = [one for one in values if one is not None and one.kind in ("index", "call") and len(one.parts) > 1]
    return bool(made) and all(one.kind == "assign" and not one.items for one in found)


def _form(function: Function, binding: Binding) -> str:
    """What kind of value it is, by its name and what makes it; "" for any other."""
    value = function.events[binding.position].value
    if binding.kind != "assign" or value is None:
        return ""
    if _brings_back(function, binding, value):
        return "order"
    if _is_shaped(function, binding, value):
        return "shaped"
    if binding.items or value.kind not in _RUNS:
        return ""
    if _IS_MOVING.search(function.name) and value.kind == "binary" and _is_measured_from_edge(value):
        return "moved"
    called = [part.last for part in value.walk() if part.kind == "call" and part.last not in _CASTS]
    if _IS_LOSS.search(binding.name) and not _IS_NO_LOSS.search(binding.name):
        is_made = value.kind == "call" and value.last[:1].isupper()  # the object that computes it
        is_term = called and not is_made and not any(map(_LOOPS.search, called))
        return "loss" if is_term and _is_trained_there(function, binding.position) else ""
    is_mask = _IS_MASK.search(binding.name) and any(map(_MASKS.search, called))
    return "weights" if (is_mask or _IS_WEIGHTS.search(binding.name)) and _trains(function) else ""


def _is_shaped(function: Function, binding: Binding, value: Expr) -> bool:
    """norm = norm.unsqueeze(-1), of an argument that stands nowhere else."""
    if function.parameter(binding.name) is None or value.kind != "call" or value.last not in _SHAPES:
        return False
    shaped = (
        value.argument(0, "input") if value.receiver is not None and value.receiver.text == "torch" else value.receiver
    )
    return shaped is not None and shaped.kind == "path" and shaped.text == binding.name


def _is_measured_from_edge(value: Expr) -> bool:
    """w - x1: by the size of the picture, or by where a cut begins."""
    names = [part.text for part in value.walk() if part.kind == "path"]
    return (
        value.text in ("-", "*", "/") and len(names) > 1 and any(_EDGE.search(one.rpartition(".")[2]) for one in names)
    )


def _brings_back(function: Function, binding: Binding, value: Expr) -> bool:
    """argsort(order) and order.sort()[1], where order is itself what a sort gave, or a permutation."""
    call = value.parts[0] if value.kind == "index" and value.parts[1].text == "1" else value
    if (
        call.kind != "call"
        or call.last not in _SORTS
        or (call is value and call.last == "sort" and binding.items != (1,))
    ):
        return False
    receiver = call.receiver
    given = receiver if receiver is not None and receiver.text not in _LIBRARIES else call.argument(0, "input", "a")
    orders = bindings(function).get(given.text, ()) if given is not None and given.kind == "path" else ()
    makers = [function.events[one.position].value for one in orders]
    return bool(makers) and all(
        made is not None and any(part.last in _ORDERS for part in made.walk()) for made in makers
    )


def _times_read(function: Function, name: str) -> int:
    """In statements, not in words about them; as often as it is written where another function is made in this one."""
    roots = [root for event in function.events for root in (*event.calls, event.value) if root is not None]
    roots += [target for event in function.events for target in event.targets if target.kind != "path"]
    parts = [part for root in roots for part in root.walk()]
    if any(part.kind == "lambda" for part in parts) or any(event.kind == "define" for event in function.events):
        return times_named(function, name)
    return len({(part.line, id(part)) for part in parts if part.kind == "path" and part.text.partition(".")[0] == name})


def _is_trained_there(function: Function, position: int) -> bool:
    """In the loop that goes backward, or in a function that gives another loss back."""
    trained = _trained_loops(function)
    return trained is None or function.events[position].block.loops in trained


@kept_per_function
def _trained_loops(function: Function) -> frozenset[tuple[int, ...]] | None:
    """The loops around each backward(); None of a function that gives a loss back."""
    returned = (event.value for event in function.events if event.kind == "return" and event.value is not None)
    if any(_IS_LOSS.search(one.last) for value in returned for one in value.walk()):
        return None
    return frozenset(
        event.block.loops for event in function.events if any(call.last == "backward" for call in event.calls)
    )


def _trains(function: Function) -> bool:
    return function.name == "forward" or "backward" in function.called


def _examined(function: Function, binding: Binding, form: str, times: int = 1) -> Finding:
    event, path, name = function.events[binding.position], function.path, binding.name
    is_read = _times_read(function, name) > 1 if form == "shaped" else times_named(function, name) > times
    if is_read or "locals" in function.called:
        return SAY.passed(path, event.line, f"{name} is read")
    value = written(event.value) if event.value is not None else ""
    message = f"{name} = {value} at {path}:{event.line} is read nowhere in {function.name}(): which line was to use it?"
    link = Link(path, event.line, f"{name} is computed, and not read")
    return SAY.fail(path, event.line, message, (link,), "medium", form=form)
