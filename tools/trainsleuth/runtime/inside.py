"""What a model that gives back nothing but its loss is made of: the modules inside that take and give a row per example."""

from . import registered
from .calls import Call, autocast_states
from .freeze import copied
from .rows import main_input
from .tensors import is_dense, tensors_in

MOST, DEEPEST = 2, 3  # modules, levels below the model


class Part:
    """A module and what it was given; `main` is the tensor whose rows are the examples."""

    def __init__(self, name, module, args, kwargs, main, autocast):
        self.name, self.module, self.args, self.kwargs = name, module, args, kwargs
        self.main, self.autocast = main, autocast


def parts_of(torch, again):
    """The outermost of them that hold parameters, the largest first. Only where no other axis is as long as the batch."""
    found, handles = {}, []
    try:
        for name, module in registered.named_modules(again.model):
            if name and name.count(".") < DEEPEST and any(True for _ in registered.parameters(module)):
                handles.append(module.register_forward_hook(_noting(torch, again.rows, name, found), with_kwargs=True))
        again.outputs()
    finally:
        for handle in handles:
            handle.remove()
    outermost = [one for name, one in found.items() if not any(name.startswith(other + ".") for other in found)]
    return sorted(outermost, key=_size, reverse=True)[:MOST]


def _noting(torch, rows, name, found):
    def note(module, args, kwargs, output):
        if name in found or not any(_is_of_rows(t, rows) for t in tensors_in(output)):
            return
        args, kwargs = copied((args, kwargs))
        main = main_input(list(Call(torch, "input", module, args, kwargs, (None, None)).tensors()), args)
        if main is not None and _is_of_rows(main[1], rows):
            found[name] = Part(name, module, args, kwargs, main[1], autocast_states(torch))

    return note


def _is_of_rows(tensor, rows):
    return is_dense(tensor) and tensor.dim() > 1 and tensor.shape[0] == rows and list(tensor.shape).count(rows) == 1


def _size(part):
    return sum(p.numel() for p in registered.parameters(part.module))
