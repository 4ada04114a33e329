"""The interpreter in which the tests' training programs run.

`TRAINSLEUTH_TEST_PYTHON=/path/to/python pytest ...` names another one, with a torch of its own (2.0 or later).
"""

from __future__ import annotations

import os
import sys

TRAINING_PYTHON = os.environ.get("TRAINSLEUTH_TEST_PYTHON", sys.executable)
