"""Where a running operation stands: module path, forward or backward, the user's line.

In the forward the line is read from the live stack. In the backward it is the line of the forward
operation whose derivative runs, which anomaly mode recorded (its NaN check stays off).
"""

import re
import sys

from . import registered
from .sites import OWN
from .tensors import tensors_in

_FRAME = re.compile(r'File "(.+?)", line (\d+), in (\S+)')
_TAG = "trainsleuth module"
MOST_NODES = 5000  # of one module call that are given its path


class Places:
    """`called_at` is the (user, library) site of what is being replayed; None while the program itself runs."""

    def __init__(self, torch, sites):
        self.torch, self.sites = torch, sites
        self.called_at = None
        self.attached, self.handles = set(), []
        self.stack = []  # (path, nodes that the module was given) of the modules being called

    # -- modules ---------------------------------------------------------------------------

    def attach(self, root):
        """Makes every call inside this module known by its path; a second time does nothing."""
        if id(root) in self.attached:
            return
        self.attached.add(id(root))
        for name, module in registered.named_modules(root):
            path = ".".join(part for part in (type(root).__name__, name) if part)
            try:
                self.handles.append(module.register_forward_pre_hook(self._enter(path), with_kwargs=True))
                self.handles.append(module.register_forward_hook(self._leave))
            except RuntimeError:  # scripted modules take no such hooks
                continue

    def detach(self):
        for handle in self.handles:
            handle.remove()
        self.handles, self.attached, self.stack = [], set(), []

    def _enter(self, path):
        def enter(module, args, kwargs):
            given = {t.grad_fn for t in tensors_in((args, kwargs)) if t.grad_fn is not None}
            self.stack.append((path, given))

        return enter

    def _leave(self, module, args, output):
        if self.stack:
            path, given = self.stack.pop()
            _tag(path, [t.grad_fn for t in tensors_in(output) if t.grad_fn is not None], given)

    # -- the running operation -------------------------------------------------------------

    def here(self):
        """Fields of a link: direction, site, lib, module, node."""
        node = self.torch._C._current_autograd_node()
        recomputed = node is not None and bool(self.stack)  # a checkpoint runs its forward again
        user, library = self._live()
        if node is None or recomputed:
            path = self.stack[-1][0] if self.stack else None
            fields = {"direction": "forward", "node": None, "module": path}
        else:
            fields = {"direction": "backward", "node": node.name(), "module": node.metadata.get(_TAG)}
            if user is None:
                user, library = self._recorded(node)
        if user is None and self.called_at is not None:
            user, library = self.called_at[0], library or self.called_at[1]
        return dict(fields, site=user, lib=library)

    def _live(self):
        """(user, library) of the running Python code, up to the replay or to the call of the engine."""
        frame, library = sys._getframe(1), None
        while frame is not None:
            code = frame.f_code
            if code.co_name == "run_again" and code.co_filename.startswith(OWN):
                break
            if code.co_filename.replace("\\", "/").endswith("torch/autograd/__init__.py"):
                break
            kind, shown = self.sites.classify(code.co_filename)
            if kind == "user":
                return "%s:%d" % (shown, frame.f_lineno), library
            if kind == "library" and library is None:
                library = "%s:%d" % (shown, frame.f_lineno)
            frame = frame.f_back
        return None, library

    def _recorded(self, node):
        """(user, library) of the forward line of a node, up to the replay."""
        library = None
        for filename, line, function in reversed(_FRAME.findall("".join(node.metadata.get("traceback_", ())))):
            if function == "run_again" and filename.startswith(OWN):
                break
            kind, shown = self.sites.classify(filename)
            if kind == "user":
                return "%s:%s" % (shown, line), library
            if kind == "library" and library is None:
                library = "%s:%s" % (shown, line)
        return None, library


def _tag(path, nodes, given):
    """Gives the path to every node between a module's output and what it was given, unless a child has done so."""
    waiting, seen = list(nodes), set(nodes)
    for node in waiting:  # grows while it is walked
        if node in given or len(seen) > MOST_NODES:
            continue
        node.metadata.setdefault(_TAG, path)
        for parent, _ in node.next_functions:
            if parent is not None and parent not in seen:
                seen.add(parent)
                waiting.append(parent)
