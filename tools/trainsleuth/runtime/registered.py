"""The parts, parameters and buffers of a module as torch registers them.

A class may give `parameters` or `modules` a meaning of its own (a list of weights that are adapted, without `recurse`), so
its methods are not asked. Shared ones come once, under their first name, in the order of torch.
"""

import sys


def is_module(value):
    """By its class: some objects answer to every name."""
    return isinstance(value, sys.modules["torch"].nn.Module)


def named_modules(root):
    seen, waiting = set(), [("", root)]
    while waiting:
        name, module = waiting.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        yield name, module
        prefix = name + "." if name else ""
        waiting += [(prefix + own, part) for own, part in reversed(list(module._modules.items())) if part is not None]


def modules(root):
    return (module for _, module in named_modules(root))


def children(module):
    return (part for part in list(module._modules.values()) if part is not None)


def named_parameters(root, recurse=True):
    return _named(root, "_parameters", recurse)


def parameters(root, recurse=True):
    return (value for _, value in named_parameters(root, recurse))


def named_buffers(root, recurse=True):
    return _named(root, "_buffers", recurse)


def buffers(root):
    return (value for _, value in named_buffers(root))


def _named(root, table, recurse):
    seen = set()
    for name, module in named_modules(root) if recurse else (("", root),):
        for own, value in list(getattr(module, table).items()):
            if value is not None and id(value) not in seen:
                seen.add(id(value))
                yield name + "." + own if name else own, value
