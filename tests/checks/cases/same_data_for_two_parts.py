"""Programs for same-data-for-two-parts."""

from ._programs import mutant

_LOADERS = """
from torch.utils.data import DataLoader, random_split

def loaders(data, lengths, size):
    training_set, validation_set, test_set = random_split(data, lengths)
    train_loader = DataLoader(training_set, batch_size=size, shuffle=True)
    val_loader = DataLoader(validation_set, batch_size=size, shuffle=False)
    test_loader = DataLoader(test_set, batch_size=1, shuffle=False)
    return train_loader, val_loader, test_loader
"""
_MODULE = """
import torch
from torch.utils.data import TensorDataset

class Module:
    def setup(self, stage=None):
        ds = lambda x, y: TensorDataset(torch.from_numpy(x), torch.from_numpy(y))
        data = torch.load(self.path)
        self.train_ds = ds(data["x_train"], data["y_train"])
        self.valid_ds = ds(data["x_valid"], data["y_valid"])
"""
_MNIST = """
from torchvision import datasets

def sets(root, augment, plain):
    train_dataset = datasets.CIFAR10(root, train=True, transform=augment)
    test_dataset = datasets.CIFAR10(root, train=False, transform=plain)
    return train_dataset, test_dataset
"""
_FOLDERS = """
from data import PictureDataset

def sets(args, augment, plain):
    trainDataset = PictureDataset(args.train_dir, augment)
    testDataset = PictureDataset(args.test_dir, plain)
    return trainDataset, testDataset
"""
SILENT = {
    "a sampler for each, given later": """
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

def loaders(train_dir, augment, plain, train_sampler, valid_sampler):
    train_dataset = ImageFolder(train_dir, transform=augment)
    valid_dataset = ImageFolder(train_dir, transform=plain)
    train_loader = DataLoader(train_dataset, 32, sampler=train_sampler)
    valid_loader = DataLoader(valid_dataset, 32, sampler=valid_sampler)
    return train_loader, valid_loader
""",
    "its examples are set later": """
from torchvision.datasets import CIFAR10

def sets(root, augment, plain, rows):
    train_set = CIFAR10(root, transform=augment)
    val_set = CIFAR10(root, transform=plain)
    val_set.data = val_set.data[rows]
    return train_set, val_set
""",
    "loaders": _LOADERS,
    "module": _MODULE,
    "mnist": _MNIST,
    "folders": _FOLDERS,
    "a sampler for each": """
from torch.utils.data import DataLoader

def loaders(train_data, train_sampler, valid_sampler):
    train_loader = DataLoader(train_data, 32, sampler=train_sampler)
    valid_loader = DataLoader(train_data, 32, sampler=valid_sampler)
    return train_loader, valid_loader
""",
    "a mode for each": """
def sets(args):
    train_data = Pictures(args.train_list, mode="fit")
    val_data = Pictures(args.train_list, mode="score")
    return train_data, val_data
""",
    "named for what it is": mutant(
        _LOADERS, ("    return", "    train_eval_loader = DataLoader(training_set, batch_size=size)\n    return")
    ),
    "shares of it": """
def sets(train_list, n):
    train_data = PictureDataset(train_list[:n])
    val_data = PictureDataset(train_list[n:])
    return train_data, val_data
""",
    "parts of it, cut later": mutant(
        _MNIST,
        ("train=True, ", ""),
        ("train=False, ", ""),
        (
            "    return",
            "    train_dataset, test_dataset = Subset(train_dataset, first), Subset(test_dataset, rest)\n    return",
        ),
    ),
    "the same root": """
def sets(root, a, b):
    train_data = PictureDataset(root, a)
    val_data = PictureDataset(root, b)
    return train_data, val_data
""",
    "other data by then": """
from torch.utils.data import DataLoader

def loaders(read):
    train_set = read("a")
    train_loader = DataLoader(train_set, 32)
    train_set = read("b")
    val_loader = DataLoader(train_set, 32)
    return train_loader, val_loader
""",
}
FAILS = {
    "loaders": mutant(_LOADERS, ("DataLoader(validation_set", "DataLoader(training_set")),
    "loaders, the test": mutant(
        _LOADERS, ("DataLoader(test_set, batch_size=1", "DataLoader(training_set, batch_size=1")
    ),
    "module": mutant(_MODULE, ('data["x_valid"], data["y_valid"]', 'data["x_train"], data["y_train"]')),
    "mnist, by default": mutant(_MNIST, ("train=True, ", ""), ("train=False, ", "")),
    "loaders, of a dict": mutant(
        _MODULE,
        (
            'self.valid_ds = ds(data["x_valid"], data["y_valid"])',
            'self.valid_ds = ds(data["x_train"], data["y_train"])',
        ),
        ("        data = torch.load(self.path)\n", "        data = torch.load(self.path, weights_only=True)\n"),
    ),
    "folders": mutant(_FOLDERS, ("PictureDataset(args.test_dir, plain)", "PictureDataset(args.train_dir, augment)")),
}

_MODULE = """
import torch
from torch.utils.data import DataLoader

class Pictures:
    def __init__(self, dataset, folder):
        self.dataset, self.folder = dataset, folder

    def setup(self, augment, plain):
        self.train = self.dataset(self.folder, train=True, transform=augment)
        self.val = self.dataset(self.folder, train=False, transform=plain)

    def loaders(self):
        return DataLoader(self.train, 64, shuffle=True), DataLoader(self.val, 64)
"""
SILENT["a module of data"] = _MODULE
FAILS["both held out"] = _MODULE.replace("train=True", "train=False")
