"""The examples that a data set keeps in memory, told apart by their content: augmentation does not change them."""

from .rows import is_batch

MOST_VALUES = 50_000_000  # read of one data set
AT_ONCE = 1_000_000  # values
MOST_TEXT = 200_000
SEPARATORS = ("/", "\\")


def overlap(torch, coder, evaluated, trained):
    """Of two loaders, for each attribute in which the data sets of both keep examples: how many of the evaluated ones the
    trained ones hold too.
    """
    first, second = (examples(torch, coder, one.dataset, drawn(one)) for one in (evaluated, trained))
    is_drawn = drawn(evaluated) is not None and drawn(trained) is not None
    for name in first:
        if name in second:
            mine, theirs = first[name], set(second[name])
            distinct = set(mine)
            yield {
                "attribute": name, "shared": len(distinct & theirs), "distinct": len(distinct), "rows": len(mine),
                "trained": len(second[name]), "trained_distinct": len(theirs), "drawn": is_drawn,
            }  # fmt: skip


def drawn(loader):
    """The indices that a SubsetRandomSampler of the loader draws from; None for any other."""
    sampler = getattr(loader, "sampler", None)
    return list(map(int, sampler.indices)) if type(sampler).__name__ == "SubsetRandomSampler" else None


def examples(torch, coder, dataset, chosen=None):
    """{attribute: one code per example} of tensors, arrays and lists of paths as long as the data set itself."""
    dataset, indices = base(dataset)
    if chosen is not None:
        indices = chosen if indices is None else [indices[i] for i in chosen]
    try:
        size = len(dataset)
    except (TypeError, NotImplementedError):
        return {}
    found = {}
    for name, value in kept(dataset):
        rows = of_tensor(torch, coder, value, size, indices)
        rows = of_paths(dataset, value, size, indices) if rows is None else rows
        if rows:
            found[name] = rows
    return found


def base(dataset):
    """What lies under subsets, and which of its examples are used (None for all)."""
    indices = None
    for _ in range(5):
        if not (hasattr(dataset, "dataset") and hasattr(dataset, "indices")):
            break
        own = [int(i) for i in dataset.indices]
        indices = own if indices is None else [own[i] for i in indices]
        dataset = dataset.dataset
    return dataset, indices


def kept(dataset):
    """(name, value) of the attributes, tuples of tensors taken apart."""
    for name, value in list(getattr(dataset, "__dict__", {}).items())[:40]:
        if isinstance(value, (list, tuple)) and 0 < len(value) <= 8:
            for number, item in enumerate(value):
                yield "%s[%d]" % (name, number), item
        else:
            yield name, value


def of_tensor(torch, coder, value, size, indices):
    if hasattr(value, "__array__") and not hasattr(value, "grad_fn"):
        try:
            value = torch.as_tensor(value.__array__())  # a table of pandas is no sequence
        except (TypeError, ValueError, RuntimeError):
            return None
    if not hasattr(value, "grad_fn") or not is_batch(value) or value.dim() < 2 or value.shape[0] != size:
        return None
    wanted = list(range(size)) if indices is None else indices
    width = max(1, value[0].numel())
    if len(wanted) * width > MOST_VALUES:
        return None
    codes, step = [], max(2, AT_ONCE // width)
    for start in range(0, len(wanted) - 1, step):
        coded, telling, _ = coder.codes(value[wanted[start : start + step]])
        codes += [code for code, is_telling in zip(coded.tolist(), telling.tolist()) if is_telling]
    return codes


def of_paths(dataset, value, size, indices):
    """Paths; those below folders of other names are other files, so all short texts of the data set count too."""
    if not isinstance(value, (list, tuple)) or len(value) != size or size > MOST_TEXT:
        return None
    if not all(isinstance(one, str) and any(mark in one for mark in SEPARATORS) for one in value):
        return None
    around = sorted((k, v) for k, v in vars(dataset).items() if isinstance(v, str))
    return [hash((str(around), value[i])) for i in (range(size) if indices is None else indices)]
