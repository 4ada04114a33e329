"""What an ATen operation does with its arguments, as far as tracking values needs it."""

# Their result holds whatever lay in memory; nobody computed it.
UNINITIALISED = frozenset(
    ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "resize_", "set_")
)
# They write their first argument without reading it.
OVERWRITING = frozenset(
    (
        "copy_", "fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_", "exponential_", "cauchy_",
        "log_normal_", "geometric_", "eye_",
    )
)  # fmt: skip


def name_of(func):
    return func.overloadpacket.__name__


def is_uninitialised(func):
    return name_of(func) in UNINITIALISED


def is_pointwise(func):
    """Each output value depends only on the input values at the same (broadcast) position."""
    return any(str(tag).endswith("pointwise") for tag in getattr(func, "tags", ()))


def written(func):
    """Names of the arguments that the operation changes."""
    return [a.name for a in func._schema.arguments if a.alias_info is not None and a.alias_info.is_write]


def named(func, args, kwargs):
    """(argument name, value) of everything that was given."""
    for argument, value in zip(func._schema.arguments, args):
        yield argument.name, value
    for name, value in kwargs.items():
        yield name, value


def read(func, args, kwargs):
    """(argument name, value) of what the operation really reads.

    In training mode batch norm updates its running statistics and does not use them.
    """
    given = list(named(func, args, kwargs))
    flags = {name: value for name, value in given if name in ("training", "train")}
    trains = any(flags.values()) or name_of(func) == "_batch_norm_with_update"
    for number, (name, value) in enumerate(given):
        is_target = name == "out" or (number == 0 and name_of(func) in OVERWRITING)
        if not is_target and not (trains and name in ("running_mean", "running_var")):
            yield name, value


def numbers(func, args, kwargs):
    """{argument name: number} of plain Python numbers that were given."""
    return {
        name: value
        for name, value in named(func, args, kwargs)
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
