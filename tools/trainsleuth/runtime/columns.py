"""Which columns of a batch of inputs are, in every row, a column of the targets: exactly, or by a straight line."""

MOST_VALUES = 20_000_000  # of one batch of inputs
MOST_WIDE = 10_000  # columns, above which only exact agreement is looked for
MOST_COLUMNS = 8  # of the targets
MOST_TRIED = 10  # batches whose targets are all the same
MOST_KINDS = 1000
NEEDED_ROWS = 4
EXACT = 1e-5  # of the spread of the targets: inputs are standardised in single precision


class Agreement:
    """`found` maps columns of the targets to those of the inputs that agreed with them in all batches read."""

    def __init__(self, torch, x, target, module):
        self.torch, self.cls = torch, type(module).__name__
        self.shape, self.target_shape = list(x.shape[1:]), list(target.shape[1:])
        self.is_float, self.found, self.counts = x.is_floating_point(), None, {}
        self.width = product(self.shape) / product(self.target_shape)
        self.looked = looked_for(self.target_shape, product(self.target_shape))
        self.read = self.tried = self.rows = 0
        self.is_part = True  # are the targets no more than a view of what enters?
        self.is_over = self.told = False
        self.calls = {}  # of models before one backward: how often
        self.reached = 0  # losses to which a gradient came
        self.call, self.autocast = None, ()  # the last that led here

    def goes_on(self, most):
        return not self.is_over and self.read < most

    def add(self, x, target):
        """One batch more; None where nothing of this name entered."""
        if x is None or list(x.shape[1:]) != self.shape or list(target.shape[1:]) != self.target_shape:
            self.is_over = True  # other shapes: its columns have no fixed meaning
            return
        x, y = in_common_type(x.reshape(len(x), -1), target.detach().reshape(len(target), -1))
        self.tried += 1
        if len(x) < NEEDED_ROWS or not bool((y != y[:1]).any()):
            self.is_over = self.read == 0 and self.tried >= MOST_TRIED
            return
        if self.found is None:  # a column that stands still says nothing
            self.looked = [column for column in self.looked if bool((y[:, column] != y[0, column]).any())]
        self.found = self._first(x, y) if self.found is None else self._still(x, y)
        self.is_over = not self.found
        if self.is_over:
            self.call = None
        else:
            self.read, self.rows = self.read + 1, self.rows + len(x)
            self._count(y[:, self.looked[0]])

    def _first(self, x, y):
        found = {}
        for column in self.looked:
            places = (x == y[:, column, None]).all(0).nonzero().flatten()
            if len(places):
                found[column] = (places, None)
        if found or not x.is_floating_point() or x.device.type == "mps" or x.shape[1] > MOST_WIDE:
            return found
        for column in self.looked:
            places, last = series_of(self.torch, self.shape, self.target_shape, column, x.device)
            at, slopes = lines(self.torch, x[:, places], y[:, column])
            if len(at) and (last is None or bool((places[at] == last).any())):
                found[column] = (places[at], slopes)
        return found

    def _still(self, x, y):
        found = {}
        for column, (places, slopes) in self.found.items():
            there = x[:, places]
            if slopes is None:
                places = places[(there == y[:, column, None]).all(0)]
            elif not bool((y[:, column] != y[0, column]).any()):
                stay = (there == there[:1]).all(0)
                places, slopes = places[stay], slopes[stay]
            else:
                still, now = lines(self.torch, there, y[:, column])
                same = (now - slopes[still]).abs() <= 1e-3 * now.abs()
                places, slopes = places[still[same]], now[same]
            if len(places):
                found[column] = (places, slopes)
        return found

    def _count(self, y):
        for value, count in zip(*(values.tolist() for values in y.unique(return_counts=True))):
            if value in self.counts or len(self.counts) < MOST_KINDS:
                self.counts[value] = self.counts.get(value, 0) + count

    def followed(self, calls):
        self.calls[calls] = self.calls.get(calls, 0) + 1

    def arrives(self, gradient):
        self.reached += 1

    def exchanged(self, tensor):
        rows = tensor.reshape(len(tensor), -1).clone()
        for places, _ in self.found.values():
            rows[:, places] = rows[:, places].roll(1, 0)
        return rows.reshape(tensor.shape)

    def facts(self):
        """`found`: [column of the targets, columns of the inputs that agree with it, the first of them], `others`: rows without the commonest target."""
        found = self.found or {}
        return {
            "cls": self.cls, "is_float": self.is_float, "shape": self.shape, "target_shape": self.target_shape, "read": self.read, "rows": self.rows,
            "others": self.rows - max(self.counts.values(), default=0), "always": not self.is_over, "calls": max(self.calls, key=lambda calls: (self.calls[calls], calls), default=0), "reached": self.reached, "width": self.width,
            "looked": self.looked, "is_part": self.is_part,
            "found": [[column, len(places), places[:4].tolist()] for column, (places, _) in found.items()],
            "slope": next((float(slopes[0]) for _, slopes in found.values() if slopes is not None), None),
        }  # fmt: skip


def looked_for(shape, width):
    """Columns of the targets, evenly spread, and those of the first step where the first axis may be time."""
    first = product(shape[1:]) if shape else 1
    even = range(0, width, max(1, width // MOST_COLUMNS))
    return sorted({*range(min(first, MOST_COLUMNS)), *list(even)[:MOST_COLUMNS], width - 1})


def series_of(torch, shape, target_shape, column, device):
    """(places of what is compared with this column, the last of them): all of a table, or one series of a window of those that are targets.

    The axes are [steps, series] or the reverse; other targets are compared with nothing.
    """
    many, size = product(target_shape), product(shape)
    places = torch.arange(size, device=device)
    if many == 1:
        return places, None
    if len(shape) == 2 and many in shape:
        places = places.reshape(shape)
        places = places[:, column] if shape[1] == many else places[column]
        return places, places[-1]
    return places[:0], None


def product(shape):
    total = 1
    for size in shape:
        total *= size
    return total


def in_common_type(x, y):
    """Both as whole numbers, or in the floating type that tells fewer numbers apart."""
    floats = [t for t in (x, y) if t.is_floating_point()]
    kind = min(floats, key=lambda t: t.element_size()).dtype if floats else y.long().dtype
    return x.to(kind), y.to(device=x.device, dtype=kind)


def lines(torch, x, y):
    """(columns of which y is a linear function in all rows, but for rounding; its slopes)."""
    x, y = x.to(torch.float64), y.to(torch.float64)
    x, y = x - x.mean(0), y - y.mean()
    slopes = (x * y[:, None]).sum(0) / x.square().sum(0)
    rest = (y[:, None] - x * slopes).abs().max(0).values
    places = (rest <= EXACT * y.abs().max()).nonzero().flatten()
    return places, slopes[places]
