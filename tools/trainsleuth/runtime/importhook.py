"""Do something the moment one module's body has run, before its importer gets it back."""

import sys


def after_import(name, then):
    """Call `then(module)` after each execution of module `name`: an import, a reload, a spec loaded by hand.

    A module that is already there counts as just imported.
    """
    if name in sys.modules:
        then(sys.modules[name])
    sys.meta_path.insert(0, _Finder(name, then))


class _Finder:
    """Answers for one name only, by asking the other finders and adding a word to their loader."""

    def __init__(self, name, then):
        self.name = name
        self.then = then

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find and not isinstance(finder, _Finder) else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):  # not so for a namespace package
                    _extend(spec.loader, self.then)
                return spec
        return None

    def invalidate_caches(self):
        return None


def _extend(loader, then):
    """Shadow `exec_module` on this one loader object, so that its type and identity stay what they were."""
    execute = loader.exec_module

    def exec_module(module):
        execute(module)
        then(module)

    loader.exec_module = exec_module
