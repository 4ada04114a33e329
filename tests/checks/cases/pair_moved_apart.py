"""Programs for pair-moved-apart."""

from ._programs import mutant

_HALVES = """
import random
import numpy as np
from PIL import Image

class Edges:
    def __init__(self, files, transform):
        self.files, self.transform = files, transform

    def __getitem__(self, i):
        whole = np.array(Image.open(self.files[i]))
        w = whole.shape[1]
        a = whole[:, : w // 2]
        b = whole[:, w // 2 :]
        if random.random() > 0.5:
            a = np.fliplr(a)
            b = np.fliplr(b)
        return self.transform(a.copy()), self.transform(b.copy())
"""
_DEPTH = """
import random
from PIL import Image

class RandomHorizontalFlip:
    def __call__(self, sample):
        image, depth = sample["image"], sample["depth"]
        if random.random() < 0.5:
            image = image.transpose(Image.FLIP_LEFT_RIGHT)
            depth = depth.transpose(Image.FLIP_LEFT_RIGHT)
        return {"image": image, "depth": depth}
"""
_BOTH = ("            b = np.fliplr(b)\n", "        if random.random() > 0.5:\n            b = np.fliplr(b)\n")
_DEPTH_TOO = (
    "            depth = depth",
    "        if random.random() < 0.5:\n            depth = depth",
)
SILENT = {
    "pictures of other scenes": """
import random
from torch.utils.data import Dataset

class Unpaired(Dataset):
    def __getitem__(self, i):
        clean = self.clean[i]
        noisy = self.noisy[random.randrange(len(self.noisy))]
        if random.random() < 0.5:
            clean = clean[:, ::-1]
        if random.random() < 0.5:
            noisy = noisy[:, ::-1]
        return clean, noisy
""",
    "halves together": _HALVES,
    "depth together": _DEPTH,
    "one number for both": mutant(
        _DEPTH,
        ("if random.random() < 0.5:", "turn = random.random() < 0.5\n        if turn:"),
        ("            depth = depth", "        if turn:\n            depth = depth"),
    ),
    "two pictures of two files": mutant(_HALVES, _BOTH, ("whole[:, : w // 2]", "np.array(Image.open(self.others[i]))")),
    "two views of one picture": """
import random
import numpy as np

class Views:
    def __getitem__(self, i):
        image = self.images[i]
        image1, image2 = image[self.top : self.end], image[self.start :]
        label1, label2 = self.labels[i], self.labels[i]
        if random.random() < 0.5:
            image1 = np.fliplr(image1)
            label1 = np.fliplr(label1)
        if random.random() < 0.5:
            image2 = np.fliplr(image2)
            label2 = np.fliplr(label2)
        return image1, label1, image2, label2
""",
    "two pairs": """
import random
import numpy as np

def augment(img_a, label_a, img_b, label_b):
    if random.random() < 0.5:
        img_a = np.fliplr(img_a)
        label_a = np.fliplr(label_a)
    if random.random() < 0.5:
        img_b = np.fliplr(img_b)
        label_b = np.fliplr(label_b)
    return img_a, label_a, img_b, label_b
""",
    "one seed": mutant(
        _DEPTH,
        ("        if random", "        random.seed(3)\n        if random"),
        (
            "            depth = depth",
            "        random.seed(3)\n        if random.random() < 0.5:\n            depth = depth",
        ),
    ),
    "one of the two is taken": mutant(
        _DEPTH,
        ("        if random", "        if self.first:\n          if random"),
        ("            depth = depth", "        else:\n          if random.random() < 0.5:\n            depth = depth"),
    ),
    "one is turned in two ways": mutant(
        _DEPTH,
        (
            "            depth = depth.transpose(Image.FLIP_LEFT_RIGHT)\n",
            "        if random.random() < 0.5:\n            image = image.transpose(Image.FLIP_TOP_BOTTOM)\n",
        ),
    ),
}
FAILS = {
    "halves": mutant(_HALVES, _BOTH),
    "depth": mutant(_DEPTH, _DEPTH_TOO),
    "under a switch": mutant(
        _DEPTH,
        ("if random.random() < 0.5", "if self.flips and random.random() < 0.5"),
        ("            depth = depth", "        if self.flips and random.random() < 0.5:\n            depth = depth"),
    ),
    "noisy and clean": mutant(_DEPTH, _DEPTH_TOO).replace("depth", "clean").replace("image", "noisy"),
}
