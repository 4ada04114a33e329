"""Folders that are beside the program: tests, examples, what was taken from others."""

from __future__ import annotations

import re

ASIDE = re.compile(
    r"(?:^|/)(?:tests?|testing|docs?|doc_src|examples?|demos?|notebooks?|tutorials?|third_?party|vendor(?:ed)?|external|"
    r"deprecated|legacy|archive|old|build|benchmarks?|evaluation|eval|projects|experimental|extensions|extras|contrib|"
    r"community|playground|samples|toy)(?:/|$)",
    re.I,
)
NEVER = re.compile(
    r"(?:^|/)(?:tests?|testing|third_?party|vendor(?:ed)?|build|site-packages)/|(?:^|/)(?:test_|conftest)[^/]*$",
    re.I,
)
