"""Listener: which lines, of those that were asked about, the program comes to. One "visited" event per line.

From Python 3.12 on `sys.monitoring` tells of a line once and costs nothing after that. Before, `sys.settrace` makes
calls of small functions in Python 6 to 12 times as long, so it ends when every line was met, or after so many steps
as are asked for. Where a debugger or a measurement of coverage is at work nothing is watched, and that is told, as is a
fork, whose lines nobody hears of.
"""

import dis
import os
import sys
import threading

NAME = "trainsleuth"
TOOLS = (4, 3)  # numbers that sys.monitoring leaves to anybody


class Listener:
    def __init__(self, bus):
        self.bus, self.events = bus, bus.events
        self.wanted = {path: set(lines) for path, lines in bus.experiment.get("visit", {}).items()}
        self.left = sum(map(len, self.wanted.values()))
        self.known = {}  # id of a code -> (the code, so that its id stays its own; the lines in it that are wanted)
        means = (Monitoring if hasattr(sys, "monitoring") else Tracing)(self)
        why = means.start() if self.left else "no line was asked about"
        self.means = None if why else means
        self.events("watches_lines", lines=self.left, why=why)
        self.has_forked = False
        if not why:
            os.register_at_fork(after_in_parent=self._forked)

    def _forked(self):
        """Workers of a loader come to lines as well, and tell nothing."""
        if not self.has_forked:
            self.has_forked = True
            self.events("forked")

    def lines(self, code):
        """Those of the wanted lines that this code holds and that were not met yet."""
        known = self.known.get(id(code))
        if known is None:
            known = self.known[id(code)] = (code, self._held(code))
        return known[1]

    def _held(self, code):
        kind, path = self.bus.sites.classify(code.co_filename)
        wanted = self.wanted.get(path) if kind == "user" else None
        if not wanted:
            return frozenset()
        return {line for _, line in dis.findlinestarts(code) if line in wanted}

    def met(self, code, line):
        lines = self.lines(code)
        if line not in lines:
            return
        lines.discard(line)
        path = self.bus.sites.classify(code.co_filename)[1]
        if line in self.wanted[path]:
            self.wanted[path].discard(line)
            self.left -= 1
            self.events("visited", path=path, line=line, n=self.bus.steps)
            if not self.left:
                self.means.stop()

    def boundary(self, step):
        if step == self.bus.experiment.get("visit_steps") and isinstance(self.means, Tracing):
            self.means.stop()

    def close(self, reason):
        if self.means is not None:
            self.means.stop()


class Monitoring:
    def __init__(self, listener):
        self.listener, self.monitoring, self.tool = listener, getattr(sys, "monitoring", None), None

    def start(self):
        """Why it cannot, "" where it could."""
        self.tool = next((tool for tool in TOOLS if self.monitoring.get_tool(tool) is None), None)
        if self.tool is None:
            return "other tools use sys.monitoring"
        events = self.monitoring.events
        self.monitoring.use_tool_id(self.tool, NAME)
        self.monitoring.register_callback(self.tool, events.PY_START, self._started)
        self.monitoring.register_callback(self.tool, events.LINE, self._line)
        self.monitoring.set_events(self.tool, events.PY_START)
        for frame in running():
            self._started(frame.f_code, 0)
        return ""

    def _started(self, code, offset):
        if self.listener.lines(code):
            self.monitoring.set_local_events(self.tool, code, self.monitoring.events.LINE)
        return self.monitoring.DISABLE

    def _line(self, code, line):
        self.listener.met(code, line)
        return self.monitoring.DISABLE

    def stop(self):
        if self.tool is not None:
            self.monitoring.set_events(self.tool, 0)
            self.monitoring.free_tool_id(self.tool)
            self.tool = None


class Tracing:
    def __init__(self, listener):
        self.listener, self.lines = listener, listener.lines

    def start(self):
        if sys.gettrace() is not None:
            return "a debugger or a measurement of coverage traces the program"
        sys.settrace(self._called)
        threading.settrace(self._called)
        for frame in running():
            if self.lines(frame.f_code):
                frame.f_trace = self._line
        return ""

    def _called(self, frame, event, argument):
        return self._line if self.lines(frame.f_code) else None

    def _line(self, frame, event, argument):
        if event == "line":
            self.listener.met(frame.f_code, frame.f_lineno)
            frame.f_trace_lines = bool(self.lines(frame.f_code))
        return self._line

    def stop(self):
        """In other threads that already run it ends with the functions that they are in."""
        self.lines = nothing
        if getattr(sys.gettrace(), "__self__", None) is self:
            sys.settrace(None)
            threading.settrace(None)


def running():
    """The frames that were entered before: no call of theirs is told."""
    frame = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def nothing(code):
    return ()
