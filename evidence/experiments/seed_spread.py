"""Equal runs with other seeds differ; two groups of five can look like two methods."""

from statistics import fmean, stdev

from lab.task import accuracy, fit, linear_teacher, mlp

CLAIMS = {
    "seed-outliers": "16 seeds of one small classifier: mean {mean:.3f}, standard deviation {std:.4f}, from best to worst "
    "{reach:.3f}",
    "characterise-trial-variance": "two standard deviations, the smallest gain to believe from single runs: {credible:.3f}",
    "seed-split-henderson": "all splits of 10 equal runs into five and five: the means differ by up to {split:.4f}, "
    "{split_in_std:.1f} standard deviations",
}
SEEDS = 1
EXPECT = {
    "the reach is more than two standard deviations": lambda m: m["reach"] > 2 * m["std"],
    "some split into halves differs by more than one standard deviation": lambda m: m["split_in_std"] > 1,
}


def score(seed):
    task, net = linear_teacher(0), mlp(seed)
    fit(net, task.x, task.y, seed=seed, steps=150)
    return accuracy(net, task.held_x, task.held_y)


def measure(seed):
    scores = [score(one) for one in range(16)]
    ordered = sorted(scores[:10])
    split = fmean(ordered[5:]) - fmean(ordered[:5])
    return {
        "mean": fmean(scores),
        "std": stdev(scores),
        "reach": max(scores) - min(scores),
        "credible": 2 * stdev(scores),
        "split": split,
        "split_in_std": split / stdev(scores),
    }
