"""Where in the user's code, and where in a library, something happens: `path:line` strings.

A framework's loop needs both: the user's frame is often only `trainer.fit(...)`, the library's frame
is the line that really calls `backward`.
"""

import os
import re
import sys
import sysconfig

OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
_FRAME = re.compile(r'File "(.+?)", line (\d+)')


def _library_folders():
    keys = ("stdlib", "platstdlib", "purelib", "platlib")
    paths = {sysconfig.get_paths().get(key) for key in keys}
    paths.update(path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages"))
    return tuple(sorted(os.path.realpath(path) + os.sep for path in paths if path))


class Sites:
    """Classifies code by its file: user, library or noise (torch itself, the standard library, us)."""

    def __init__(self, root, told_from=""):
        """`root` holds the user's code; its paths are told from the folder `told_from` in it."""
        self.root = os.path.realpath(root) + os.sep
        self.told_from = os.path.join(self.root, told_from)
        self.program = getattr(sys.modules.get("__main__"), "__file__", None)  # Python forgets it at the program's end
        self.libraries = _library_folders()
        self.kinds = {}  # co_filename -> ("user" | "library" | "noise", shown path)
        self.folders = {}  # as written -> without links

    def classify(self, filename):
        known = self.kinds.get(filename)
        if known is None:
            known = self.kinds[filename] = self._classify(filename)
        return known

    def _classify(self, filename):
        if filename.startswith("<") and not filename.startswith("<ipython"):
            return "noise", filename
        path = self._without_links(filename)
        if path.startswith(OWN) or filename.startswith(OWN):
            return "noise", filename
        for marker in ("site-packages" + os.sep, "dist-packages" + os.sep):
            if marker in path:
                shown = path.rsplit(marker, 1)[1]
                return ("noise" if shown.startswith("torch" + os.sep) else "library"), shown
        if path.startswith(self.root):
            return "user", self.shown(path)
        if path.startswith(self.libraries):
            return "noise", filename
        return "user", path

    def _without_links(self, filename):
        """Folders are followed once: a large program has loaded thousands of files at its end."""
        folder, name = os.path.split(filename)
        if not name or os.path.islink(filename):
            return os.path.realpath(filename)
        if folder not in self.folders:
            self.folders[folder] = os.path.realpath(folder)
        return os.path.join(self.folders[folder], name)

    def shown(self, path):
        return os.path.relpath(path, self.told_from).replace(os.sep, "/")

    def here(self, limit=60):
        """(user site, library site) of the caller; either may be None. The library's frame counts only
        when it lies nearer than the user's."""
        frame, library = sys._getframe(1), None
        while frame is not None and limit:
            kind, shown = self.classify(frame.f_code.co_filename)
            if kind == "user":
                return "%s:%d" % (shown, frame.f_lineno), library
            if kind == "library" and library is None:
                library = "%s:%d" % (shown, frame.f_lineno)
            frame, limit = frame.f_back, limit - 1
        return None, library

    def callers(self, limit=8):
        """The user's frames from the innermost out: [site, function name]."""
        frame, found = sys._getframe(1), []
        while frame is not None and len(found) < limit:
            kind, shown = self.classify(frame.f_code.co_filename)
            if kind == "user":
                found.append(["%s:%d" % (shown, frame.f_lineno), frame.f_code.co_name])
            frame = frame.f_back
        return found

    def loaded(self, most=2000):
        """The user's own files that this process imported or ran."""
        names = [self.program, *(getattr(module, "__file__", None) for module in list(sys.modules.values()))]
        shown = {self.classify(name) for name in names if isinstance(name, str)}
        return [path for kind, path in shown if kind == "user"][:most]

    def of_traceback(self, lines):
        """(user site, library site) of a formatted traceback, innermost frame last."""
        library = None
        for filename, line in reversed(_FRAME.findall("".join(lines))):
            kind, shown = self.classify(filename)
            if kind == "user":
                return "%s:%s" % (shown, line), library
            if kind == "library" and library is None:
                library = "%s:%s" % (shown, line)
        return None, library
