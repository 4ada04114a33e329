"""Which parts a line of source speaks of: the quick search that decides most lines loses none."""

from __future__ import annotations

import re
from pathlib import Path

import trainsleuth
from trainsleuth.map.signs.shared import _SAYS, _SAYS_NOTHING, _speaks_of


def test_the_quick_search_loses_no_line() -> None:
    code = [path.read_text("utf-8") for path in Path(trainsleuth.__file__).parent.rglob("m*/**/*.py")]
    lines = [line for text in code for line in text.split("\n") if not _SAYS_NOTHING.match(line)]
    lines += ["    Loader = DataSet(TRAIN)", "VAL_ACC = Evaluate(net)", "batch_Size=4", "x = my_log_value"]
    said = [tuple(name for name, words in _SAYS.items() if re.search(words, line, re.I)) for line in lines]
    assert [_speaks_of(line) for line in lines] == said
    assert sum(map(bool, said)) > 1000
