"""Which columns of a table of numbers can be exchanged among the examples without any effect? Halves are tried, then halves of these."""

from .freeze import storage

FEWEST, MOST = 3, 256  # columns
MOST_CALLS = 32


def unread(again, results):
    """Numbers of the columns that differ among the examples and change nothing; None where no table enters, or not all were tried."""
    x = again.main
    if not x.is_floating_point() or x.dim() != 2 or not FEWEST <= x.shape[1] <= MOST:
        return None
    varied = (x != x[:1]).any(0).nonzero().flatten().tolist()
    found, waiting, calls = [], [varied] if len(varied) >= FEWEST else [], 0
    while waiting:
        columns = waiting.pop()
        if calls == MOST_CALLS:
            return None
        calls += 1
        if not _changes(again, results, columns):
            found += columns
        elif len(columns) > 1:
            middle = len(columns) // 2
            waiting += [columns[middle:], columns[:middle]]
    return sorted(found) if len(found) < len(varied) else None  # all of them at once: something else was exchanged


def _changes(again, results, columns):
    def change(tensor):
        if tensor.shape != again.main.shape or storage(tensor) != storage(again.main):
            return tensor
        changed = tensor.clone()
        changed[:, columns] = tensor[:, columns].roll(1, 0)
        return changed

    return again.distance(results, again.of_rows(again.outputs(change))) != 0.0
