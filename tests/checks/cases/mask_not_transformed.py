"""Programs for mask-not-transformed."""

from ._programs import mutant

_FUNCTIONAL = """
import random
import torchvision.transforms.functional as TF
from PIL import Image
from torch.utils.data import Dataset

class Cells(Dataset):
    def __init__(self, files):
        self.files = files

    def __getitem__(self, i):
        image = Image.open(self.files[i][0])
        mask = Image.open(self.files[i][1])
        if random.random() > 0.5:
            image = TF.hflip(image)
            mask = TF.hflip(mask)
        return TF.to_tensor(image), TF.to_tensor(mask)
"""
_SEEDED = """
import torch
from torch.utils.data import Dataset
from torchvision import transforms

class Roads(Dataset):
    def __init__(self, images, masks):
        self.images, self.masks = images, masks
        self.transform = transforms.Compose([transforms.RandomRotation(20), transforms.ToTensor()])
        self.to_tensor = transforms.ToTensor()

    def __getitem__(self, index):
        img, mask = self.images[index], self.masks[index]
        seed = torch.seed()
        torch.manual_seed(seed)
        img = self.transform(img)
        torch.manual_seed(seed)
        mask = self.transform(mask)
        return img, mask
"""
_PAIR = """
import random
import numpy as np

class RandomFlip:
    def __call__(self, image, mask):
        if random.random() < 0.5:
            image = np.fliplr(image)
            mask = np.fliplr(mask)
        return image, mask
"""

_CHOSEN = """
import numpy as np
from torch.utils.data import Dataset
from torchvision import transforms

class Land(Dataset):
    def __init__(self, images, masks):
        self.images, self.masks = images, masks
        self.flip_image = transforms.Compose([transforms.RandomVerticalFlip(p=1), transforms.ToTensor()])
        self.flip_mask = transforms.Compose([transforms.RandomVerticalFlip(p=1)])
        self.turn_image = transforms.RandomRotation((90, 90))
        self.turn_mask = transforms.RandomRotation((90, 90))

    def __getitem__(self, i):
        image, mask = self.images[i], self.masks[i]
        chosen = np.random.randint(0, 3)
        if chosen == 0:
            image, mask = self.flip_image(image), self.flip_mask(mask)
        elif chosen == 1:
            image, mask = self.turn_image(image), self.turn_mask(mask)
        return image, mask
"""
_ALBUMENTATIONS = """
import albumentations as A
import cv2
import numpy as np

class Nuclei:
    def __init__(self, ids, size, transform=None):
        self.ids, self.size, self.transform = ids, size, transform

    def __getitem__(self, i):
        img = cv2.imread(self.ids[i] + ".png")
        mask = []
        for place in range(self.size):
            mask.append(cv2.imread(f"{self.ids[i]}_{place}.png", cv2.IMREAD_GRAYSCALE)[..., None])
        mask = np.dstack(mask)
        if self.transform is not None:
            augmented = self.transform(image=img, mask=mask)
            img, mask = augmented["image"], augmented["mask"]
        return img, mask

def build(ids):
    return Nuclei(ids, 2, A.Compose([A.RandomRotate90(), A.OneOf([A.HueSaturationValue(), A.Blur()], p=1), A.Normalize()]))
"""
_ALONE = (
    'augmented = self.transform(image=img, mask=mask)\n            img, mask = augmented["image"], augmented["mask"]',
    'img = self.transform(image=img)["image"]\n            mask = cv2.resize(mask, img.shape[1::-1])[..., None]',
)
_LABELS = """
from PIL import Image
from torchvision import transforms

class Streets:
    def __init__(self, files):
        self.files = files
        self.transform = transforms.Compose([transforms.ColorJitter(0.2), transforms.ToTensor()])
        self.target_transform = transforms.ToTensor()

    def __getitem__(self, i):
        image = Image.open(self.files[i][0])
        label = Image.open(self.files[i][1])
        return self.transform(image), self.target_transform(label)
"""
_FLIPS = ("transforms.ColorJitter(0.2)", "transforms.RandomHorizontalFlip()")
FAILS = {
    "labels that are pictures, read in one line": mutant(
        _LABELS,
        _FLIPS,
        (
            "        image = Image.open(self.files[i][0])\n        label = Image.open(self.files[i][1])",
            "        image, label = Image.open(self.files[i][0]), Image.open(self.files[i][1])",
        ),
    ),
    "a target that goes through the same transform": mutant(
        _LABELS,
        _FLIPS,
        ("self.target_transform(label)", "self.transform(target)"),
        ("label = Image.open", "target = self.read"),
    ),
    "albumentations on the image alone": mutant(_ALBUMENTATIONS, _ALONE),
    "albumentations on each": mutant(
        _ALBUMENTATIONS,
        _ALONE,
        ("cv2.resize(mask, img.shape[1::-1])[..., None]", 'self.transform(image=mask)["image"]'),
    ),
    "one of several by albumentations": mutant(
        _ALBUMENTATIONS, _ALONE, ("A.RandomRotate90(), ", ""), ("A.Blur()", "A.HorizontalFlip(p=1)")
    ),
    "labels that are pictures": mutant(_LABELS, _FLIPS),
    "pictures and labels by one transform": mutant(
        _LABELS, _FLIPS, ("self.target_transform(label)", "self.transform(label)")
    ),
    "applied by a draw of its own": mutant(
        _CHOSEN,
        ("transforms.Compose([transforms.RandomVerticalFlip(p=1)])", "transforms.RandomVerticalFlip(p=0.5)"),
        (
            "transforms.Compose([transforms.RandomVerticalFlip(p=1), transforms.ToTensor()])",
            "transforms.RandomApply([transforms.RandomVerticalFlip(p=1)])",
        ),
    ),
    "turned by a range": mutant(
        _CHOSEN,
        ("turn_image = transforms.RandomRotation((90, 90))", "turn_image = transforms.RandomRotation((-90, 90))"),
    ),
    "the mask stays": mutant(_FUNCTIONAL, ("            mask = TF.hflip(mask)\n", "")),
    "its own draw": mutant(
        _FUNCTIONAL,
        (
            "            mask = TF.hflip(mask)\n",
            "        if random.random() > 0.5:\n            mask = TF.hflip(mask)\n",
        ),
    ),
    "the same transform draws twice": mutant(
        _SEEDED,
        ("        torch.manual_seed(seed)\n        img", "        img"),
        ("        torch.manual_seed(seed)\n        mask", "        mask"),
    ),
    "only the image is turned": mutant(
        _SEEDED,
        ("mask = self.transform(mask)", "mask = self.to_tensor(mask)"),
        ("        torch.manual_seed(seed)\n        mask", "        mask"),
    ),
    "a transform of pairs": mutant(_PAIR, ("            mask = np.fliplr(mask)\n", "")),
    "handed in": """
# file: dataset.py
from PIL import Image

class Segmentation:
    def __init__(self, names, transform, mask_transform):
        self.names = names
        self.transform = transform
        self.mask_transform = mask_transform

    def __getitem__(self, i):
        image = Image.open(self.names[i])
        mask = Image.open(self.names[i].replace("image", "mask"))
        image = self.transform(image)
        mask = self.mask_transform(mask)
        return image, mask
# file: train.py
from torchvision import transforms as T
from dataset import Segmentation

def build(names):
    image = T.Compose([T.RandomResizedCrop(256), T.ToTensor()])
    mask = T.Compose([T.Resize(256), T.ToTensor()])
    return Segmentation(names, image, mask)
""",
}

SILENT = {
    "a label beside a picture in one line": mutant(
        _LABELS,
        _FLIPS,
        (
            "        image = Image.open(self.files[i][0])\n        label = Image.open(self.files[i][1])",
            "        image, label = Image.open(self.files[i][0]), self.files[i][1]",
        ),
    ),
    "numbers through the same transform": mutant(
        _LABELS,
        _FLIPS,
        ("label = Image.open(self.files[i][1])", "target = np.array(self.files[i][1])"),
        ("self.target_transform(label)", "self.transform(target)"),
    ),
    "a mask of answers that count": mutant(
        _ALBUMENTATIONS,
        _ALONE,
        ("        mask = []\n", "        mask = self.masks[i]\n"),
        (
            '            mask.append(cv2.imread(f"{self.ids[i]}_{place}.png", cv2.IMREAD_GRAYSCALE)[..., None])\n        mask = np.dstack(mask)\n',
            "            pass\n",
        ),
        ("            mask = cv2.resize(mask, img.shape[1::-1])[..., None]\n", ""),
    ),
    "another domain": mutant(
        _LABELS,
        _FLIPS,
        ("label = Image.open", "target_img = Image.open"),
        ("self.target_transform(label)", "self.transform(target_img)"),
        ("        image = Image", "        source_img = Image"),
        ("transform(image)", "transform(source_img)"),
    ),
    "a seed by a helper": mutant(
        _LABELS,
        _FLIPS,
        (
            "        return self.transform(image), self.target_transform(label)",
            "        reseed(i)\n        image = self.transform(image)\n        reseed(i)\n        label = self.transform(label)\n        return image, label",
        ),
    ),
    "albumentations on both": _ALBUMENTATIONS,
    "albumentations of colours": mutant(
        _ALBUMENTATIONS, _ALONE, ("A.RandomRotate90()", "A.RandomBrightnessContrast()")
    ),
    "the mask where there is one": mutant(
        _ALBUMENTATIONS,
        (
            "if self.transform is not None:\n",
            'if mask is None:\n            img = self.transform(image=img)["image"]\n        elif self.transform is not None:\n',
        ),
    ),
    "of one kind only": mutant(
        _ALBUMENTATIONS,
        (
            "if self.transform is not None:\n",
            "for one in self.transform:\n            if isinstance(one, A.Resize):\n"
            '                img = one(image=img)["image"]\n        if self.transform is not None:\n',
        ),
    ),
    "labels that are numbers": mutant(_LABELS, _FLIPS, ("Image.open(self.files[i][1])", "int(self.files[i][1])")),
    "labels that are pictures, of changed colours": _LABELS,
    "always the same, by one draw for both": _CHOSEN,
    "one condition": _FUNCTIONAL,
    "one seed": _SEEDED,
    "pair": _PAIR,
    "colours only": mutant(_SEEDED, ("transforms.RandomRotation(20)", "transforms.ColorJitter(0.2)")),
    "a mask that is made up": """
import torch
from torchvision import transforms

class Inpainting:
    def __init__(self, images):
        self.images = images
        self.transform = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor()])

    def __getitem__(self, i):
        image = self.transform(self.images[i])
        mask = torch.rand(image.shape[1:]) > 0.5
        return image, mask
""",
    "both at once": """
from torchvision.transforms import v2

class Pairs:
    def __init__(self, images, masks):
        self.images, self.masks = images, masks
        self.transform = v2.Compose([v2.RandomHorizontalFlip()])

    def __getitem__(self, i):
        image, mask = self.images[i], self.masks[i]
        image, mask = self.transform(image, mask)
        return image, mask
""",
    "what is there is moved, the masks by hand": """
import random
import torch
import torchvision.transforms.functional as F

class Flip:
    def __call__(self, image, masks):
        if random.random() < 0.5:
            if image is not None:
                image = F.hflip(image)
            if masks is not None:
                masks = torch.as_tensor(masks.numpy()[:, :, ::-1].copy())
        return image, masks
""",
}
