"""Programs for indices-only-counted."""

from ._programs import mutant

_CLIENT = """
from torch.utils.data import DataLoader, Dataset

class DatasetSplit(Dataset):
    def __init__(self, dataset, idxs):
        self.dataset = dataset
        self.idxs = list(idxs)

    def __len__(self):
        return len(self.idxs)

    def __getitem__(self, item):
        image, label = self.dataset[self.idxs[item]]
        return image, label

def loader(dataset, idxs):
    return DataLoader(DatasetSplit(dataset, idxs), batch_size=32, shuffle=True)
"""
_ARRAYS = """
from torch.utils.data import Dataset

class Fold(Dataset):
    def __init__(self, images, labels, indices, transform=None):
        self.images, self.labels, self.transform = images, labels, transform
        self.indices = indices

    def __len__(self):
        return len(self.indices)

    def __getitem__(self, i):
        row = self.indices[i]
        image = self.images[row]
        if self.transform is not None:
            image = self.transform(image)
        return image, self.labels[row]
"""
SILENT = {
    "client": _CLIENT,
    "arrays": _ARRAYS,
    "taken before": """
from torch.utils.data import Dataset

class Fold(Dataset):
    def __init__(self, images, indices):
        self.indices = indices
        self.images = [images[i] for i in indices]

    def __len__(self):
        return len(self.indices)

    def __getitem__(self, i):
        return self.images[i]
""",
    "taken by a method": mutant(
        _CLIENT,
        ("self.dataset[self.idxs[item]]", "self.take(item)"),
        ("def loader", "    def take(self, item):\n        return self.dataset[self.idxs[item]]\n\ndef loader"),
    ),
    "the number is another one": mutant(_ARRAYS, ("row = self.indices[i]", "i = i + 1\n        row = i")),
    "images that are counted": """
from torch.utils.data import Dataset

class Images(Dataset):
    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i]
""",
}
FAILS = {
    "client": mutant(_CLIENT, ("self.dataset[self.idxs[item]]", "self.dataset[item]")),
    "arrays": mutant(
        _ARRAYS,
        ("        row = self.indices[i]\n", ""),
        ("self.images[row]", "self.images[i]"),
        ("self.labels[row]", "self.labels[i]"),
    ),
}
