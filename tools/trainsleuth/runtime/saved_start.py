"""Is something saved that holds exactly the values with which a trained module began? An average that was never updated does."""

from . import registered

MOST = 20  # saves that are looked at
DEEPEST = 3


class SavedStart:
    def __init__(self, bus, values):
        """`values(tensor)`: what is kept of it to compare."""
        self.bus, self.torch, self.values = bus, bus.torch, values
        self.looks, self.found = 0, {}  # (line, keys) -> what was found there last

    def look(self, thing, rows, roots):
        """`rows`: what is known of each parameter; `roots`: the outermost modules."""
        self.looks += 1
        if self.looks > MOST or not self.bus.steps:
            return
        site = self.bus.sites.here()[0]
        moved = {root: list(self._moved(root, rows)) for root in {row.root for row in rows if row.gradients}}
        for keys, mapping in mappings(self.torch, thing):
            self.found.pop((site, keys), None)
            for root, mine in moved.items():
                if root is not None and mine and self._is_as_it_began(mine, mapping):
                    cls = type(roots[root]).__name__
                    facts = {"n": self.bus.steps, "cls": cls, "matrices": len(mine), "keys": keys, "site": site}
                    self.found[site, keys] = facts

    def _moved(self, root, rows):
        for row in rows:
            if row.root == root and row.name and row.tensor.dim() > 1 and row.gradients:
                if not self.torch.equal(row.before, self.values(row.tensor)):
                    yield row

    def _is_as_it_began(self, rows, mapping):
        return any(
            all(self._is_equal(row, mapping.get(before + row.name)) for row in rows)
            for before in prefixes(rows[0].name, mapping)
        )

    def _is_equal(self, row, saved):
        if saved is None or getattr(saved, "shape", None) != row.tensor.shape:
            return False
        now = self.values(saved)
        return now.dtype == row.before.dtype and self.torch.equal(now.to(row.before.device), row.before)


def prefixes(name, mapping):
    """What wrappers put before each name, where some name ends like this one."""
    if name in mapping:
        yield ""
    for key in mapping:
        if isinstance(key, str) and key.endswith("." + name):
            yield key[: -len(name)]


def mappings(torch, thing, keys="", depth=DEEPEST):
    """(keys that lead to it, {name: tensor}) of each dict of tensors in this, and of each module."""
    if isinstance(thing, torch.nn.Module):
        thing = dict(registered.named_parameters(thing))
    if not isinstance(thing, dict) or not depth:
        return
    if any(isinstance(value, torch.Tensor) for value in thing.values()):
        yield keys, thing
    for key, value in list(thing.items()):
        yield from mappings(torch, value, "%s.%s" % (keys, key) if keys else str(key), depth - 1)
