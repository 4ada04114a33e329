"""Settings that code works out or overwrites after they were read: args.batch_size //= gpus, cfg.merge_from_list(opts)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Function

from ..program import Program

NEAR = 3  # calls from the entry
_SETTINGS = re.compile(r"^(?:\w+_)?(?:args?|opts?|cfg|config|conf|hparams|hps?|options|params|flags|settings|FLAGS)$")
_MERGES = re.compile(
    r"^(?:merge_from_\w+|cfg_from_(?:list|yaml_file|file)|update_(?:config|cfg|args)\w*|merge_(?:config|cfg|args)\w*|set_defaults|load_config_\w+)$"
)


def derived(program: Program) -> Iterator[tuple[Function, int, str]]:
    """(function, line, role) near the entry, in the order of the code."""
    for function, distance in program.entry.reach.distance.items():
        if distance > NEAR:
            continue
        for event in function.events:
            if any(_MERGES.match(call.last) for call in event.calls):
                yield function, event.line, "merged"
            elif _overwrites(event):
                yield function, event.line, "derived"


def _overwrites(event: Event) -> bool:
    """Gives an attribute, or a key, of the settings another value."""
    if event.kind not in ("assign", "augment") or event.value is None:
        return False
    for target in event.targets:
        owner = target.parts[0] if target.kind == "index" else target.receiver
        if owner is not None and owner.kind == "path" and _SETTINGS.match(owner.text.partition(".")[0]):
            return True
    return False
