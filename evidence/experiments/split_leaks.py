"""Copies on both sides of a split, a split against time, and a test set used for choosing: all score too well."""

import torch

CLAIMS = {
    "augment-after-split": "random labels, four noisy copies of each example: a nearest neighbour is {copies_before:.0%} right when the "
    "copies are made before the split and {copies_after:.0%} when after",
    "time-order-split": "a slow series predicted from its neighbours in time: error {random_split:.2f} of the variance with a random "
    "split, {time_split:.2f} when the last fifth is held out",
    "test-set-tuning-contaminates": "the best of 1,000 random classifiers on 100 test examples is {best:.0%} right, and {fresh:.0%} on "
    "fresh ones",
}
SEEDS = 5
EXPECT = {
    "copies before the split score on random labels": lambda m: m["copies_before"] > 0.85 and m["copies_after"] < 0.65,
    "a random split of a series looks better by a factor of three": lambda m: m["time_split"] > 3 * m["random_split"],
    "the best of many falls back to chance": lambda m: m["best"] > 0.6 and abs(m["fresh"] - 0.5) < 0.06,
}


def neighbour(train_x, train_y, x):
    return train_y[torch.cdist(x, train_x).argmin(1)]


def copies(draw, before):
    x, y = torch.randn(200, 20, generator=draw), torch.randint(2, (200,), generator=draw)
    if before:
        x, y = x.repeat(4, 1) + 0.1 * torch.randn(800, 20, generator=draw), y.repeat(4)
    order = torch.randperm(len(x), generator=draw)
    train, test = order[: len(x) // 2], order[len(x) // 2 :]
    return (neighbour(x[train], y[train], x[test]) == y[test]).float().mean().item()


def series_error(draw, by_time):
    noise, series = torch.randn(1000, generator=draw), [torch.tensor(0.0)]
    for one in noise:
        series.append(0.99 * series[-1] + one)
    y, when = torch.stack(series[1:]), torch.arange(1000.0)[:, None]
    order = torch.arange(1000) if by_time else torch.randperm(1000, generator=draw)
    train, test = order[:800], order[800:]
    return ((neighbour(when[train], y[train], when[test]) - y[test]).pow(2).mean() / y.var()).item()


def best_of_many(draw):
    labels, fresh = torch.randint(2, (100,), generator=draw), torch.randint(2, (1000,), generator=draw)
    answers, on_fresh = (torch.randint(2, (1000, size), generator=draw) for size in (100, 1000))
    right = (answers == labels).float().mean(1)
    return right.max().item(), (on_fresh[right.argmax()] == fresh).float().mean().item()


def measure(seed):
    def draw():
        return torch.Generator().manual_seed(seed)

    best, fresh = best_of_many(draw())
    return {
        "copies_before": copies(draw(), True), "copies_after": copies(draw(), False),
        "random_split": series_error(draw(), False), "time_split": series_error(draw(), True),
        "best": best, "fresh": fresh,
    }  # fmt: skip
