"""Programs for split-shares-transform."""

from ._programs import mutant

_TRANSFORMS = """
import copy
import torch
from torch.utils.data import DataLoader, Dataset, Subset, random_split
from torchvision import datasets, transforms

augment = transforms.Compose([transforms.Resize(256), transforms.RandomCrop(224), transforms.ToTensor()])
plain = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor()])
"""
_COPIED = (
    _TRANSFORMS
    + """
def loaders(folder):
    whole = datasets.ImageFolder(folder, transform=augment)
    sizes = [len(whole) - 200, 100, 100]
    train_set, val_set, test_set = random_split(whole, sizes, generator=torch.Generator().manual_seed(0))
    val_set.dataset = copy.deepcopy(whole)
    val_set.dataset.transform = plain
    test_set.dataset = copy.deepcopy(whole)
    test_set.dataset.transform = plain
    return DataLoader(train_set, 32, shuffle=True), DataLoader(val_set, 32), DataLoader(test_set, 32)
"""
)
_TRAINING_COPIED = (
    _TRANSFORMS
    + """
whole = datasets.ImageFolder("images")
order = torch.randperm(len(whole)).tolist()
ds_train = Subset(whole, order[200:])
ds_valid = Subset(whole, order[:200])
ds_train.dataset = copy.deepcopy(whole)
ds_train.dataset.transform = augment
ds_valid.dataset.transform = plain
loaders = {"train": DataLoader(ds_train, 16, shuffle=True), "valid": DataLoader(ds_valid, 16)}
"""
)
_LIGHTNING = """
import lightning
import torch
from torch.utils.data import DataLoader, Subset, random_split
from images import Images

class Data(lightning.LightningDataModule):
    def __init__(self, folder, train_transform=None, val_transform=None):
        super().__init__()
        self.folder = folder
        self.train_transform, self.val_transform = train_transform, val_transform

    def setup(self, stage=None):
        order = torch.randperm(1000).tolist()
        self.train_set = Subset(Images(self.folder, self.train_transform), order[:900])
        self.val_set = Subset(Images(self.folder, self.val_transform), order[900:])

    def train_dataloader(self):
        return DataLoader(self.train_set, 16, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val_set, 16)
"""
_HELPER = """
# file: cut.py
from torch.utils.data import random_split

def halve(dataset, share=0.2):
    held_out = int(share * len(dataset))
    parts = random_split(dataset, [len(dataset) - held_out, held_out])
    one, other = parts
    return one, other
# file: main.py
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder
from cut import halve

train_data = ImageFolder("images", transform=transforms.Compose([transforms.AutoAugment(), transforms.ToTensor()]))
val_data = ImageFolder("images", transform=transforms.ToTensor())
train_set, _ = halve(train_data)
_, val_set = halve(val_data)
DataLoader(train_set, 8), DataLoader(val_set, 8)
"""
SILENT = {
    "a copy for each evaluation": _COPIED,
    "a copy for training": _TRAINING_COPIED,
    "lightning": _LIGHTNING,
    "a helper": _HELPER,
    "the same for all": _TRANSFORMS
    + """
def loaders(folder):
    whole = datasets.ImageFolder(folder)
    train_set, val_set = random_split(whole, [0.8, 0.2])
    train_set.dataset.transform = plain
    val_set.dataset.transform = plain
    return DataLoader(train_set, 32), DataLoader(val_set, 32)
""",
    "a wrapper for each": _TRANSFORMS
    + """
class Transformed(Dataset):
    def __init__(self, subset, transform):
        self.subset, self.transform = subset, transform

    def __len__(self):
        return len(self.subset)

    def __getitem__(self, i):
        x, y = self.subset[i]
        return self.transform(x), y

whole = datasets.ImageFolder("images")
train_part, val_part = random_split(whole, [0.8, 0.2])
train_set, val_set = Transformed(train_part, augment), Transformed(val_part, plain)
val_set.transform = plain
DataLoader(train_set, 32), DataLoader(val_set, 32)
""",
    "only one part is read": _TRANSFORMS
    + """
def score(folder, model):
    whole = datasets.ImageFolder(folder, transform=augment)
    train_set, test_set = random_split(whole, [0.8, 0.2])
    print(len(train_set))
    test_set.dataset.transform = plain
    return [model(x) for x, _ in DataLoader(test_set, 32)]
""",
    "set for each phase anew": _TRANSFORMS
    + """
def run(model, optimizer, folder):
    whole = datasets.ImageFolder(folder)
    train_set, val_set = random_split(whole, [0.8, 0.2])
    for epoch in range(9):
        train_set.dataset.transform = augment
        for x, y in DataLoader(train_set, 32):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        val_set.dataset.transform = plain
        print(sum((model(x).argmax(1) == y).sum().item() for x, y in DataLoader(val_set, 32)))
""",
    "set once training is over": _TRANSFORMS
    + """
def run(model, optimizer, folder):
    whole = datasets.ImageFolder(folder, transform=augment)
    train_set, val_set = random_split(whole, [0.8, 0.2])
    for epoch in range(9):
        for x, y in DataLoader(train_set, 32, shuffle=True):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    val_set.dataset.transform = plain
    return sum((model(x).argmax(1) == y).sum().item() for x, y in DataLoader(val_set, 32))
""",
    "read before it is set anew": _TRANSFORMS
    + """
def tensors(folder):
    whole = datasets.ImageFolder(folder)
    train_set, val_set = random_split(whole, [0.8, 0.2])
    val_set.dataset.transform = plain
    val_examples = [val_set[i] for i in range(len(val_set))] + list(val_set)
    train_set.dataset.transform = augment
    return DataLoader(train_set, 32, shuffle=True), val_examples
""",
    "a normalisation for both, in the arms of a test": _TRANSFORMS
    + """
def loaders(folder, small):
    train_set, val_set = random_split(datasets.ImageFolder(folder), [0.8, 0.2])
    if small:
        train_set.dataset.transform = transforms.Compose([transforms.Resize(64), transforms.ToTensor()])
    else:
        train_set.dataset.transform = transforms.Compose([transforms.Resize(224), transforms.ToTensor()])
    return DataLoader(train_set, 32), DataLoader(val_set, 32)
""",
    "a part that can transform": """
from torch.utils import data
from torchvision import transforms
from torchvision.datasets import CIFAR10

class Subset(data.Subset):
    transform = None

    def __getitem__(self, i):
        x, y = super().__getitem__(i)
        return self.transform(x), y

whole = CIFAR10("data")
train_set, val_set = Subset(whole, range(45_000)), Subset(whole, range(45_000, 50_000))
train_set.transform = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor()])
val_set.transform = transforms.ToTensor()
data.DataLoader(train_set), data.DataLoader(val_set)
""",
    "a function copies": _TRANSFORMS
    + """
def split(dataset, share, deepcopy=False):
    train, val = random_split(dataset, [1 - share, share])
    if deepcopy:
        train.dataset, val.dataset = copy.deepcopy(dataset), copy.deepcopy(dataset)
    return train, val

train_set, val_set = split(datasets.ImageFolder("images"), 0.1, deepcopy=True)
train_set.dataset.transform = augment
val_set.dataset.transform = plain
DataLoader(train_set), DataLoader(val_set)
""",
}
FAILS = {
    "a copy is missing": mutant(
        _COPIED,
        ("    val_set.dataset = copy.deepcopy(whole)\n", ""),
        ("    test_set.dataset = copy.deepcopy(whole)\n", ""),
    ),
    "the copy for training is missing": mutant(_TRAINING_COPIED, ("ds_train.dataset = copy.deepcopy(whole)\n", "")),
    "training comes last": mutant(
        _TRAINING_COPIED,
        ("ds_train.dataset = copy.deepcopy(whole)\nds_train.dataset.transform = augment\n", ""),
        (
            "ds_valid.dataset.transform = plain\n",
            "ds_valid.dataset.transform = plain\nds_train.dataset.transform = augment\n",
        ),
    ),
    "lightning": mutant(
        _LIGHTNING,
        ("        order = torch.randperm(1000).tolist()\n", "        whole = Images(self.folder)\n"),
        (
            "        self.train_set = Subset(Images(self.folder, self.train_transform), order[:900])\n",
            "        self.train_set, self.val_set = random_split(whole, [900, 100])\n",
        ),
        (
            "        self.val_set = Subset(Images(self.folder, self.val_transform), order[900:])\n",
            "        self.train_set.dataset.transform = self.train_transform\n"
            "        self.val_set.dataset.transform = self.val_transform\n",
        ),
    ),
    "a helper": mutant(
        _HELPER,
        ("    parts = random_split(dataset, [len(dataset) - held_out, held_out])\n", ""),
        ("one, other = parts", "one, other = random_split(dataset, [len(dataset) - held_out, held_out])"),
        ("train_set, _ = halve(train_data)", "train_set, val_set = halve(train_data)"),
        ("_, val_set = halve(val_data)", "val_set.dataset.transform = transforms.ToTensor()"),
    ),
    "a part of a part": _TRANSFORMS
    + """
class Data:
    def setup(self, folder):
        self.dataset = datasets.ImageFolder(folder, transform=augment)
        train_val, test = random_split(self.dataset, [0.8, 0.2])
        self.train_set, self.val_set = random_split(train_val, [0.9, 0.1])
        test.dataset.transform = plain
        self.test_set = test
""",
    "set on a part of a part": _TRANSFORMS
    + """
def loaders(train_idx, rest_idx, val_idx, test_idx):
    whole = datasets.ImageFolder("images", transform=augment)
    train_set = Subset(whole, train_idx)
    rest = Subset(whole, rest_idx)
    val_set, test_set = Subset(rest, val_idx), Subset(rest, test_idx)
    val_set.dataset.transform = plain
    return DataLoader(train_set, 32), DataLoader(val_set, 32), DataLoader(test_set, 32)
""",
    "in a dataset": """
from torch.utils.data import Dataset, random_split
import albumentations as A

class Cells(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.transform = None
        self.train_transform = A.Compose([A.HorizontalFlip(p=0.5), A.Normalize()])
        self.test_transform = A.Compose([A.Normalize()])

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return self.transform(image=self.paths[i])

    def parts(self):
        train, test = random_split(self, [0.8, 0.2])
        train.dataset.transform = self.train_transform
        test.dataset.transform = self.test_transform
        return train, test
""",
    "where an option says so": _TRANSFORMS
    + """
def loaders(folder, aug=False):
    dataset = datasets.ImageFolder(folder)
    train_set, test_set = random_split(dataset, [0.8, 0.2])
    if aug:
        train_set.dataset.transform = augment
    else:
        train_set.dataset.transform = plain
    return DataLoader(train_set, 32), DataLoader(test_set, 32)
""",
    "a switch": """
from torch.utils.data import DataLoader, Dataset, random_split

class Sounds(Dataset):
    def __init__(self, folder, augment=True):
        self.folder, self.augment = folder, augment

def loaders(folder):
    sounds = Sounds(folder, augment=True)
    train_set, val_set = random_split(sounds, [0.8, 0.2])
    val_set.dataset.augment = False
    return DataLoader(train_set, 32), DataLoader(val_set, 32)
""",
}
