"""Programs for training-set-as-test-set."""

from ._programs import mutant

_FUNCTION = """
from torch.utils.data import DataLoader
from torchvision.datasets import CIFAR10, FashionMNIST

def load(name, transform, plain):
    if name == "cifar":
        trainset = CIFAR10("data", train=True, transform=transform)
        testset = CIFAR10("data", train=False, transform=plain)
    else:
        trainset = FashionMNIST(root="data", train=True, download=True, transform=transform)
        testset = FashionMNIST(root="data", train=False, download=True, transform=plain)
    print(len(testset))
    return trainset, testset
"""
_CLASS = """
from points import Points
from torch.utils.data import DataLoader

class Trainer:
    def __init__(self, root):
        self.train_set = Points(root, split="train", is_random=True)
        self.test_set = Points(root, split="test", is_random=True)
        self.test_loader = DataLoader(self.test_set, batch_size=8)
"""
_LOADERS = """
import torch
from torchvision import datasets, transforms

train_loader = torch.utils.data.DataLoader(
    datasets.MNIST("data", train=True, download=True, transform=transforms.ToTensor()), batch_size=64, shuffle=True
)
test_loader = torch.utils.data.DataLoader(
    datasets.MNIST("data", train=False, transform=transforms.ToTensor()), batch_size=1000
)
"""
_FAULTS = (
    (_FUNCTION, "train=False, download", "train=True, download"),
    (_CLASS, 'split="test"', 'split="train"'),
    (_LOADERS, "train=False", "train=True"),
)
_IN_FUNCTION, _IN_CLASS, _IN_LOADERS = (mutant(program, (old, new)) for program, old, new in _FAULTS)

FAILS = {"function": _IN_FUNCTION, "class": _IN_CLASS, "loaders": _IN_LOADERS}
SILENT = {
    "function": _FUNCTION,
    "class": _CLASS,
    "loaders": _LOADERS,
    "a sampler takes a part": mutant(_IN_LOADERS, ("batch_size=1000", "batch_size=1000, sampler=pick")),
    "of another folder": mutant(
        _IN_CLASS,
        (
            'root, split="train", is_random=True)\n        self.test_l',
            'root + "/held_out", split="train")\n        self.test_l',
        ),
    ),
    "a fold": mutant(
        _IN_FUNCTION,
        ("train=True, download=True, transform=transform", "train=True, fold=0, transform=transform"),
        ("train=True, download=True, transform=plain", "train=True, fold=1, transform=plain"),
    ),
    "examples are taken out": mutant(
        _IN_FUNCTION, ("    print(len(testset))\n", "    testset.data = testset.data[50_000:]\n")
    ),
    "a helper may take them out": mutant(
        _IN_FUNCTION, ("    print(len(testset))\n", "    trainset, testset = parted(trainset, testset)\n")
    ),
    "the caller takes a part": _IN_FUNCTION
    + """
def start(order):
    trainset, testset = load("plain", None, None)
    return torch.utils.data.Subset(trainset, order[:9]), torch.utils.data.Subset(testset, order[9:])
""",
    "a validation set": _IN_FUNCTION.replace("testset", "valset"),
    "each in an arm": mutant(
        _IN_FUNCTION,
        ("    else:\n        trainset = FashionMNIST", '    elif name == "train":\n        trainset = FashionMNIST'),
        ("        testset = FashionMNIST", "    else:\n        testset = FashionMNIST"),
    ),
    "two things that are no data sets": """
def main(build):
    train_step = build(1, train=True)
    test_step = build(2, train=True)
    return train_step, test_step
""",
}
