"""`model.forward(x)` seen as the call of the model that `model(x)` is.

Nothing is changed until such a call is met: a module is called with none around it, from the forward of another
that holds it. From then on the class of that one tells when its forward is called by itself. What is called in the step in
which it is met is told to nobody: its parts are no models.
"""

import functools
import inspect
import operator
import sys
import types
from contextlib import suppress

from . import registered

MOST_FRAMES = 16
MOST_TRIES = 5  # calls from one forward that is not found to hold what it calls


class DirectCalls:
    """`outermost(module, function, args, kwargs)` calls an outermost module by this function, and tells of it."""

    def __init__(self, torch, bus, outermost):
        self.module_class, self.bus, self.outermost = torch.nn.Module, bus, outermost
        self.met = {}  # code of a forward -> step in which it was met
        self.tries = {}

    def is_part(self, called):
        """Is this module called by a forward that is met in this step?"""
        frame, found = sys._getframe(2), None
        for _ in range(MOST_FRAMES):
            if frame is None:
                break
            if frame.f_code.co_name == "forward" and self._meets(frame, called):
                found = frame.f_code
            frame = frame.f_back
        return found is not None and self.met[found] == self.bus.steps

    def _meets(self, frame, called):
        code = frame.f_code
        if code in self.met:
            return True
        tries = self.tries[code] = self.tries.get(code, 0) + 1
        module = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount and tries <= MOST_TRIES else None
        if not isinstance(module, self.module_class) or not any(part is called for part in registered.modules(module)):
            return False
        owner = next((cls for cls in type(module).__mro__ if "forward" in vars(cls)), None)
        function = vars(owner)["forward"]
        if "forward" in vars(module) or module is called or type(function) is not types.FunctionType:
            return False
        owner.forward = Direct(function, self)
        self.met[code] = self.bus.steps
        return True


class Direct:
    """Stands for a forward in its class, and is that very function to all but a program that calls it by itself."""

    def __init__(self, function, calls):
        @functools.wraps(function)
        def forward(module, *args, **kwargs):
            return calls.outermost(module, types.MethodType(function, module), args, kwargs)

        with suppress(TypeError, ValueError):
            forward.__signature__ = inspect.signature(function)
        self.function, self.told, self.bus = function, forward, calls.bus

    def __get__(self, module, owner=None):
        is_by_torch = sys._getframe(1).f_globals.get("__name__", "").partition(".")[0] == "torch"
        if module is None or self.bus.depth or is_by_torch:
            return self.function.__get__(module, owner)
        return types.MethodType(self.told, module)

    def __reduce__(self):
        """Whoever copies the class gets the function."""
        return operator.itemgetter(0), ((self.function,),)
