"""Options of a command line by the names that code has for them."""


def plain_name(flag: str) -> str:
    """The name that code reads it by: lr_decay for --lr-decay."""
    return flag.lstrip("-").replace("-", "_")
