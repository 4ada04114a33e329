"""Settings that are told apart by how they begin, which code strips: decoder_channels is channels of the decoder."""

from __future__ import annotations

import re

from ...configuration import Truth


def stripped(truth: Truth, slot: str, name: str) -> str:
    """ "channels" for decoder_channels beside decoder, where the program has the text "decoder_"; else the name itself."""
    prefix = f"{slot}_"
    if not name.startswith(prefix) or name == prefix or not _is_text(truth, prefix):
        return name
    return name.removeprefix(prefix)


def _is_text(truth: Truth, prefix: str) -> bool:
    quoted = re.compile(rb"[\"']%s[\"']" % re.escape(prefix.encode()))
    return any(function.source.holds(quoted) for function, _ in truth.program.functions())
