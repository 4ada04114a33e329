"""Runs the command that was asked for, and says in one line what it cannot do."""

from __future__ import annotations

import argparse
import os

from trainsleuth.answers.answer import FAILED
from trainsleuth.cache import OFF
from trainsleuth.cli import output
from trainsleuth.cli.interrupt import EndedBySignalError
from trainsleuth.cli.options import Command
from trainsleuth.cli.verbs import VERBS


def run(asked: argparse.Namespace, command: Command) -> int:
    """Returns the exit code; raises what is a fault of ours."""
    if getattr(asked, "no_cache", False):
        os.environ["TRAINSLEUTH_CACHE"] = OFF
    try:
        return VERBS[asked.verb].run(asked, command)
    except EndedBySignalError as signal:
        output.say(f"stopped by {signal}; the program and everything that it started were ended")
        return 128 + signal.number
    except BrokenPipeError:
        raise
    except Exception as error:
        if not _is_expected(error):
            raise
        output.say(str(error))
        return FAILED


def _is_expected(error: Exception) -> bool:
    """Raised by the engine for wrong usage, or by the system for a file: its text says what to do."""
    return isinstance(error, OSError) or type(error).__module__.startswith("trainsleuth.")
