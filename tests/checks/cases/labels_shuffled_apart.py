"""Programs for labels-shuffled-apart."""

from ._programs import mutant

_MIXUP = """
import numpy as np
import torch

def mixup_data(x, y, alpha=1.0, use_cuda=True):
    lam = np.random.beta(alpha, alpha) if alpha > 0 else 1
    batch_size = x.size()[0]
    if use_cuda:
        index = torch.randperm(batch_size).cuda()
    else:
        index = torch.randperm(batch_size)
    mixed_x = lam * x + (1 - lam) * x[index, :]
    y_a, y_b = y, y[index]
    return mixed_x, y_a, y_b, lam
"""
FAILS = {
    "mixed with labels of others": mutant(_MIXUP, ("y, y[index]", "y, y[torch.randperm(batch_size)]")),
    "mixed with labels of others, on a device": mutant(
        _MIXUP, ("y, y[index]", "y, y[torch.randperm(batch_size).cuda()]")
    ),
    "mixed with other pictures": mutant(_MIXUP, ("x[index, :]", "x[torch.randperm(batch_size)]")),
    "numpy": """
import numpy as np

def load(path):
    images, labels = np.load(path)
    np.random.shuffle(images)
    np.random.shuffle(labels)
    return images, labels
""",
    "standard library, in a class": """
import random

class Corpus:
    def __init__(self, sentences, targets):
        self.sentences = list(sentences)
        self.targets = list(targets)

    def shuffle(self):
        random.shuffle(self.sentences)
        random.shuffle(self.targets)
""",
    "two permutations": """
import torch

def batches(x, y):
    x, y = x[torch.randperm(len(x))], y[torch.randperm(len(y))]
    return zip(x.split(32), y.split(32))
""",
    "permuted copies": """
import numpy as np

def prepare(train_x, train_y, test_x, test_y):
    train_x = np.random.permutation(train_x)
    train_y = np.random.permutation(train_y)
    return (train_x, train_y), (test_x, test_y)
""",
    "in the loop over epochs, by a generator": """
import numpy as np

def run(model, data, target, epochs):
    rng = np.random.default_rng(0)
    for epoch in range(epochs):
        rng.shuffle(data)
        rng.shuffle(target)
        model.fit(data, target)
""",
    "helper of a library": """
from sklearn.utils import shuffle

def load(inputs, labels):
    inputs = shuffle(inputs)
    labels = shuffle(labels)
    return inputs, labels
""",
}

SILENT = {
    "negatives of what an order was brought into by a call": """
import torch

def info_nce(x, y, net):
    perm = torch.randperm(len(x))
    x = x[perm]
    y = torch.index_select(y, 0, perm)
    rest = y[torch.randperm(len(y))]
    return net(x, y), net(x, rest)
""",
    "marginals of an estimate of mutual information": """
import torch

def mine(x, y, net):
    order = torch.randperm(len(x))
    x_marginal = x[order]
    y_marginal = y[torch.randperm(len(y))]
    return net(x, y).mean() - net(x_marginal, y_marginal).exp().mean().log()
""",
    "mixed by one order": _MIXUP,
    "labels of others beside their own": mutant(
        _MIXUP, ("return mixed_x", "wrong = y[torch.randperm(batch_size)]\n    return wrong, mixed_x")
    ),
    "two orders that have names": mutant(
        _MIXUP, ("y, y[index]", "y, y[other]"), ("    mixed_x", "    other = torch.randperm(batch_size)\n    mixed_x")
    ),
    "features in another order": mutant(_MIXUP, ("y, y[index]", "y, y[:, torch.randperm(5)]")),
    "same seed before each": """
import numpy as np

def load(images, labels):
    np.random.seed(1)
    np.random.shuffle(images)
    np.random.seed(1)
    np.random.shuffle(labels)
""",
    "state put back": """
import random

def load(images, labels):
    state = random.getstate()
    random.shuffle(images)
    random.setstate(state)
    random.shuffle(labels)
""",
    "fresh generators with one seed": """
import numpy as np

def load(images, labels, seed):
    np.random.RandomState(seed).shuffle(images)
    np.random.RandomState(seed).shuffle(labels)
""",
    "one order": """
import numpy as np

def load(images, labels):
    order = np.random.permutation(len(images))
    return images[order], labels[order]
""",
    "pairs": """
import random
from sklearn.utils import shuffle

def load(images, labels):
    pairs = list(zip(images, labels))
    random.shuffle(pairs)
    images, labels = shuffle(images, labels)
    return pairs, images, labels
""",
    "two domains": """
import random

def load(images_a, images_b):
    random.shuffle(images_a)
    random.shuffle(images_b)
""",
    "same random state": """
from sklearn.utils import shuffle

def load(images, labels):
    images = shuffle(images, random_state=0)
    labels = shuffle(labels, random_state=0)
    return images, labels
""",
    "one or the other": """
import random

def load(images, labels, which):
    if which:
        random.shuffle(images)
    else:
        random.shuffle(labels)
""",
    "features of two domains": """
import torch

def show(source_feature, target_feature, draw):
    source_feature = source_feature[torch.randperm(len(source_feature))][:100]
    target_feature = target_feature[torch.randperm(len(target_feature))][:100]
    draw(source_feature, target_feature)
""",
}
