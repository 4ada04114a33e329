"""Constructors by kind and name."""

_BUILDERS = {}


def register(kind, name):
    def keep(builder):
        _BUILDERS[kind, name] = builder
        return builder

    return keep


def build(kind, name, **arguments):
    return _BUILDERS[kind, name](**arguments)
