"""Programs for augmented-evaluation."""

from ._programs import mutant

_CIFAR = """
import torch
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

augment = transforms.Compose([transforms.RandomCrop(32, padding=4), transforms.RandomHorizontalFlip(), transforms.ToTensor()])
plain = transforms.Compose([transforms.Resize(32), transforms.CenterCrop(32), transforms.ToTensor()])
train_set = datasets.CIFAR10("data", train=True, transform=augment)
test_set = datasets.CIFAR10("data", train=False, transform=plain)
train_loader = DataLoader(train_set, 128, shuffle=True)
test_loader = DataLoader(test_set, 128)
"""
_FOLDERS = """
import os
import torch
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder

def build_transform(is_train, size=224):
    if is_train:
        return transforms.Compose([transforms.RandomResizedCrop(size), transforms.ToTensor()])
    return transforms.Compose([transforms.Resize(256), transforms.CenterCrop(size), transforms.ToTensor()])

def loaders(root):
    val_transform = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor()])
    train_set = ImageFolder(os.path.join(root, "train"), transform=build_transform(True))
    val_set = ImageFolder(os.path.join(root, "val"), transform=val_transform)
    return DataLoader(train_set, 64, shuffle=True), DataLoader(val_set, 64)
"""
_OWN = """
import albumentations as A
import torch
from torch.utils.data import DataLoader
from images import Images

class Module:
    def __init__(self, root):
        self.root = root
        self.train_transform = A.Compose([A.RandomCrop(256, 256), A.HorizontalFlip(), A.Normalize()])
        self.val_transform = A.Compose([A.Resize(256, 256), A.Normalize()])

    def val_dataloader(self):
        return DataLoader(Images(self.root, split="val", transform=self.val_transform), batch_size=8)
"""
_TABLE = """
import os
import torch
from torchvision import datasets, transforms

data_transforms = {
    "train": transforms.Compose([transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor()]),
    "val": transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor()]),
}
image_datasets = {x: datasets.ImageFolder(os.path.join("data", x), data_transforms[x]) for x in ["train", "val"]}
loaders = {x: torch.utils.data.DataLoader(image_datasets[x], 32, shuffle=x == "train") for x in ["train", "val"]}
"""
_IMAGENET = """
import os
import torch
from torchvision import datasets, transforms

def main(args):
    traindir, valdir = os.path.join(args.data, "train"), os.path.join(args.data, "val")
    held_out = os.path.join(args.data, "val")
    normalize = transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])
    val_loader = torch.utils.data.DataLoader(
        datasets.ImageFolder(held_out, transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224), normalize])),
        batch_size=256,
    )
"""
_SWITCHED = """
# file: clouds.py
import numpy as np
import torch

class Clouds(torch.utils.data.Dataset):
    def __init__(self, root, split="train", data_augmentation=True):
        self.files, self.data_augmentation = root, data_augmentation

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        points = np.load(self.files[i])
        if self.data_augmentation:
            points = points + np.random.normal(0, 0.02, size=points.shape)
        return torch.from_numpy(points)
# file: train.py
import torch
from clouds import Clouds

train_set = Clouds("data", split="train")
test_set = Clouds("data", split="test", data_augmentation=False)
train_loader = torch.utils.data.DataLoader(train_set, batch_size=32, shuffle=True)
test_loader = torch.utils.data.DataLoader(test_set, batch_size=32)
# file: show.py
from clouds import Clouds

shown = Clouds("data", split="all", data_augmentation=False)
"""
_OFF = ('split="test", data_augmentation=False', 'split="test"')
SILENT = {
    "switched off": _SWITCHED,
    "nobody switches it off": mutant(_SWITCHED, _OFF, ('split="all", data_augmentation=False', 'split="all"')),
    "off by default": mutant(_SWITCHED, _OFF, ("data_augmentation=True", "data_augmentation=False")),
    "it decides on nothing that is drawn": mutant(
        _SWITCHED, _OFF, ("np.random.normal(0, 0.02, size=points.shape)", "1")
    ),
    "where it is off": mutant(_SWITCHED, _OFF, ("if self.data", "if not self.data")),
    "given in its place": mutant(_SWITCHED, ('split="test", data_augmentation=False', '"test", False')),
    "robustness": mutant(_SWITCHED, _OFF, ("test_set = ", "perturbed_test_set = ")).replace(
        "(test_set", "(perturbed_test_set"
    ),
    "a table": _TABLE,
    "the example of ImageNet": _IMAGENET,
    "a table of other things": mutant(
        _TABLE,
        ('"train": transforms', '"photo": transforms'),
        ("transforms.Resize(256), transforms.CenterCrop", "transforms.RandomCrop"),
    ),
    "two transforms": _CIFAR,
    "folders": _FOLDERS,
    "a class of the project": _OWN,
    "a rotation by one angle": mutant(
        _CIFAR,
        (
            "transforms.Resize(32), transforms.CenterCrop(32)",
            "transforms.RandomRotation((-90, -90)), transforms.CenterCrop(32)",
        ),
    ),
    "a flip of every picture": mutant(_CIFAR, ("transforms.Resize(32)", "transforms.RandomHorizontalFlip(p=1.0)")),
    "a jitter of nothing": mutant(_CIFAR, ("transforms.Resize(32)", "transforms.ColorJitter()")),
    "a flip of none": mutant(_CIFAR, ("transforms.Resize(32)", "transforms.RandomHorizontalFlip(0)")),
    "trained on the test part of another set": mutant(
        _CIFAR,
        ("test_set = datasets.CIFAR10", "unlabelled_set = datasets.SVHN"),
        ("transform=plain", "transform=augment"),
        ("(test_set", "(unlabelled_set"),
    ),
    "outliers to train with": mutant(
        _CIFAR,
        ("test_set = ", "outliers = []\noutliers.append("),
        ("transform=plain)", "transform=augment))"),
        ("DataLoader(test_set, 128)", "None"),
    ),
    "a set that is altered on purpose": mutant(
        _FOLDERS,
        ("def loaders(", "def rotated_by_chance("),
        ("transforms.Resize(256), transforms.CenterCrop(224)", "transforms.RandomAffine(30)"),
    ),
    "averaged over several copies": mutant(
        _CIFAR, ("test_set = ", "tta_set = "), ("transform=plain", "transform=augment"), ("(test_set", "(tta_set")
    ),
    "the pictures are read as they are stored": mutant(_CIFAR, ("transform=plain", "transform=augment")).replace(
        "DataLoader(test_set, 128)", "torch.tensor(test_set.data)"
    ),
    "no data set": mutant(
        _OWN,
        ("from images import Images", "from clicks import Interaction"),
        ("Images(self.root, split", "Interaction(self.root, mode"),
        ("transform=self.val_transform", "transforms=self.train_transform"),
    ),
    "the transform is not resolved": mutant(
        _FOLDERS, ("transform=val_transform", "transform=build_transform(bool(root))")
    ),
    "no transform": mutant(_CIFAR, ("transform=plain", "transform=None")),
}
FAILS = {
    "left on": mutant(_SWITCHED, _OFF),
    "left on, under another condition too": mutant(
        _SWITCHED, _OFF, ("if self.data_augmentation", "if self.data_augmentation and i")
    ),
    "left on, said by its name": mutant(_SWITCHED, ('split="test", data_augmentation=False', "")),
    "in a function that is called after training": mutant(
        _FOLDERS,
        ("def loaders(", "def get_train_val_loaders("),
        ("transforms.Resize(256), transforms.CenterCrop(224)", "transforms.RandomResizedCrop(224)"),
    ),
    "a table": mutant(_TABLE, ("transforms.Resize(256), transforms.CenterCrop", "transforms.RandomCrop")),
    "in the second place": mutant(
        _IMAGENET, ("transforms.Resize(256), transforms.CenterCrop(224)", "transforms.RandomResizedCrop(224)")
    ),
    "one transform for both": mutant(_CIFAR, ("transform=plain", "transform=augment")),
    "a transform of its own that draws": mutant(_CIFAR, ("transforms.Resize(32)", "transforms.RandomCrop(32)")),
    "a folder": mutant(
        _FOLDERS, ("transforms.Resize(256), transforms.CenterCrop(224)", "transforms.RandomResizedCrop(224)")
    ),
    "a class of the project": mutant(_OWN, ("transform=self.val_transform", "transform=self.train_transform")),
    "a text in front": mutant(
        _FOLDERS,
        ('os.path.join(root, "val")', 'root + "/valid/"'),
        ("transforms.Resize(256), transforms.CenterCrop(224)", "transforms.ColorJitter(0.4)"),
    ),
}
