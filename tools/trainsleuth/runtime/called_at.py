"""Which outermost modules each line of the user calls: a line that goes over from one to another shows a name rebound."""

import sys

MOST_LINES = 60
MOST_NAMES = 4


class CalledAt:
    def __init__(self, bus):
        self.bus, self.lines = bus, {}

    def add(self, number, module):
        """This module, of this number, is about to be called."""
        line = self.bus.sites.here()[0]
        if line is None or (line not in self.lines and len(self.lines) >= MOST_LINES):
            return
        calls = self.lines.setdefault(line, {})
        if number not in calls:
            names = list(self._names(module))[:MOST_NAMES] if calls else []
            calls[number] = [self.bus.steps, self.bus.steps, 0, names]
        calls[number][1] = self.bus.steps
        calls[number][2] += 1

    def told(self):
        """[line, number of a module, step of its first call there, of its last, calls, names that it has there]; names only
        of a module that came after another."""
        return [[line, number, *facts] for line, calls in self.lines.items() for number, facts in calls.items()]

    def _names(self, module):
        """By which variables and attributes the user's function that calls it knows this module."""
        frame = sys._getframe(1)
        while frame is not None and self.bus.sites.classify(frame.f_code.co_filename)[0] != "user":
            frame = frame.f_back
        if frame is not None:
            yield from list(names_in(frame.f_locals, module)) or names_in(frame.f_globals, module)


def names_in(scope, module):
    for name, value in list(scope.items()):
        if value is module:
            yield name
        elif not isinstance(value, (type, type(sys))):
            for attribute, held in attributes(value):
                if held is module:
                    yield "%s.%s" % (name, attribute)


def attributes(value):
    own = getattr(value, "__dict__", None)
    if isinstance(own, dict):
        yield from list(own.items())
        yield from list((own.get("_modules") or {}).items())
