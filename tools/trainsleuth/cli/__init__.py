"""The command line: `trainsleuth COMMAND`. Exit 0 nothing wrong found, 1 findings, 2 wrong usage or we failed."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import traceback
from collections.abc import Sequence

from trainsleuth.answers.answer import FAILED

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    from trainsleuth.cli import output, parser  # inside, so that each command imports what it needs

    output.prepare_streams()
    atexit.register(gc.freeze)  # a dying process looks through all it holds for garbage: a fifth of a search
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = parser.run(given)
        sys.stdout.flush()
    except KeyboardInterrupt:
        output.say("interrupted")
        code = INTERRUPTED
    except BrokenPipeError:
        code = FAILED
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left unwritten goes nowhere
    except Exception:  # ours alone: 1 would claim that something was found
        traceback.print_exc()
        output.say("this is a fault of trainsleuth, not of your program; the lines above say where")
        code = FAILED
    return code
