"""Programs for normalised-otherwise."""

from ._programs import mutant

_BESIDE = """
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

MEAN, STD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
transform_train = transforms.Compose([
    transforms.RandomCrop(32, padding=4),
    transforms.ToTensor(),
    transforms.Normalize(MEAN, STD),
])
transform_test = transforms.Compose([
    transforms.ToTensor(),
    transforms.Normalize(MEAN, STD),
])
train_loader = DataLoader(datasets.CIFAR10("data", train=True, transform=transform_train), 128, shuffle=True)
test_loader = DataLoader(datasets.CIFAR10("data", train=False, transform=transform_test), 128)
"""
_TABLE = """
from torchvision import datasets, transforms

def load(root):
    data_transforms = {
        "train": transforms.Compose([
            transforms.RandomResizedCrop(224), transforms.ToTensor(), transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ]),
        "val": transforms.Compose([
            transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor(),
            transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ]),
    }
    return {part: datasets.ImageFolder(f"{root}/{part}", data_transforms[part]) for part in ("train", "val")}
"""
_METHOD = """
import albumentations as A
from albumentations.pytorch import ToTensorV2

class Data:
    def __init__(self, size):
        norm = A.Normalize(mean=(0.5,), std=(0.25,))
        self.train_tf = A.Compose([A.Resize(size, size), A.HorizontalFlip(), norm, ToTensorV2()])
        self.valid_tf = A.Compose([A.Resize(size, size), norm, ToTensorV2()])
"""
_ARMS = """
from torchvision import transforms as T

def transforms_of(name):
    if name == "mnist":
        train_transform = T.Compose([T.ToTensor(), T.Normalize((0.1307,), (0.3081,))])
        test_transform = T.Compose([T.ToTensor(), T.Normalize((0.1307,), (0.3081,))])
    else:
        train_transform = T.Compose([T.ToTensor(), T.Normalize((0.5,), (0.5,))])
        test_transform = T.Compose([T.ToTensor(), T.Normalize((0.5,), (0.5,))])
    return train_transform, test_transform
"""
SILENT = {
    "beside each other": _BESIDE,
    "a table": _TABLE,
    "a method": _METHOD,
    "arms": _ARMS,
    "none at all": mutant(_BESIDE, ("    transforms.ToTensor(),\n    transforms.Normalize(MEAN, STD),\n])\ntransform_test", "    transforms.ToTensor(),\n])\ntransform_test"), ("    transforms.ToTensor(),\n    transforms.Normalize(MEAN, STD),\n])\ntrain_loader", "    transforms.ToTensor(),\n])\ntrain_loader")),
    "for a look": mutant(_BESIDE, ("transform_test = transforms", "test_raw_transform = transforms"), ("    transforms.ToTensor(),\n    transforms.Normalize(MEAN, STD),\n])\ntrain_loader", "    transforms.ToTensor(),\n])\ntransform_test = transform_train\ntrain_loader")),
    "one number for all channels, and by name": mutant(_TABLE, ("            transforms.RandomResizedCrop(224), transforms.ToTensor(), transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),", "            transforms.RandomResizedCrop(224), transforms.ToTensor(), transforms.Normalize(mean=(0.50,), std=(0.5,), inplace=True),"), ("            transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),\n", "            transforms.Normalize([0.5, 0.5, 0.5], [0.5, 0.5, 0.5]),\n")),
    "numbers that are not known": mutant(_BESIDE, ("MEAN, STD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)", "from config import MEAN, STD"), ("    transforms.Normalize(MEAN, STD),\n])\ntrain_loader", "    transforms.Normalize((0.5,), (0.5,)),\n])\ntrain_loader")),
    "a step that is not known": mutant(_METHOD, ("[A.Resize(size, size), norm, ToTensorV2()]", "[A.Resize(size, size), size.norm, ToTensorV2()]")),
}  # fmt: skip
FAILS = {
    "left out of the test": mutant(_BESIDE, ("    transforms.ToTensor(),\n    transforms.Normalize(MEAN, STD),\n])\ntrain_loader", "    transforms.ToTensor(),\n])\ntrain_loader")),
    "left out of training": mutant(_BESIDE, ("    transforms.ToTensor(),\n    transforms.Normalize(MEAN, STD),\n])\ntransform_test", "    transforms.ToTensor(),\n])\ntransform_test")),
    "other numbers": mutant(_TABLE, ("            transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),\n", "            transforms.Normalize([0.5, 0.5, 0.5], [0.5, 0.5, 0.5]),\n")),
    "left out of a method": mutant(_METHOD, ("[A.Resize(size, size), norm, ToTensorV2()]", "[A.Resize(size, size), ToTensorV2()]")),
    "one arm": mutant(_ARMS, ("test_transform = T.Compose([T.ToTensor(), T.Normalize((0.1307,), (0.3081,))])", "test_transform = T.Compose([T.ToTensor()])")),
}  # fmt: skip
