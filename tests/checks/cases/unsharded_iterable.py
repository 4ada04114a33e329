"""Programs for unsharded-iterable."""

from ._programs import mutant

_NUMBERS = """
import torch
from torch.utils.data import DataLoader, IterableDataset

class Numbers(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        for i in range(first, self.count, step):
            yield torch.tensor([float(i)])

def loader():
    return DataLoader(Numbers(1000), batch_size=32, num_workers=2)
"""
_FILES = """
import glob
import json
from torch.utils.data import DataLoader, IterableDataset

class Records(IterableDataset):
    def __init__(self, folder, worker_id=0, workers=1):
        self.files = sorted(glob.glob(folder + "/*.jsonl"))[worker_id::workers]

    def _records(self):
        for name in self.files:
            with open(name) as lines:
                for line in lines:
                    yield json.loads(line)

    def __iter__(self):
        return iter(self._records())

data = Records("train")
train = DataLoader(dataset=data, batch_size=8, num_workers=4, pin_memory=True)
"""
_BASE = """
import csv
from itertools import islice
from torch.utils import data

class Stream(data.IterableDataset):
    def rows(self):
        raise NotImplementedError

    def __iter__(self):
        info = data.get_worker_info()
        yield from islice(self.rows(), info.id, None, info.num_workers)

class Table(Stream):
    def __init__(self, path):
        self.path = path

    def rows(self):
        with open(self.path, newline="") as handle:
            for row in csv.reader(handle):
                yield [float(x) for x in row]

def main(workers=3):
    return data.DataLoader(Table("a.csv"), num_workers=3, batch_size=4)
"""
SILENT = {
    "numbers": _NUMBERS,
    "files": _FILES,
    "base": _BASE,
    "one worker": _NUMBERS.replace("num_workers=2", "num_workers=1").replace(
        "info = torch.utils.data.get_worker_info()", "info = None"
    ),
    "a function prepares the workers": """
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

class Numbers(IterableDataset):
    def __init__(self, start, end):
        self.start, self.end = start, end

    def __iter__(self):
        for i in range(self.start, self.end):
            yield i

def split(_):
    info = get_worker_info()
    info.dataset.start += info.id * 10

loader = DataLoader(Numbers(0, 40), num_workers=4, worker_init_fn=split)
""",
    "drawn without an end": """
import random
from torch.utils.data import DataLoader, IterableDataset

class Drawn(IterableDataset):
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        for _ in range(100):
            yield random.choice(self.items)

loader = DataLoader(Drawn([1, 2, 3]), num_workers=4)
""",
    "a source that shares itself out": """
import datasets
from torch.utils.data import DataLoader, IterableDataset

class Streamed(IterableDataset):
    def __init__(self):
        self.data = datasets.load_dataset("text", streaming=True)["train"]

    def __iter__(self):
        for row in self.data:
            yield row["text"]

loader = DataLoader(Streamed(), num_workers=4)
""",
    "asked for indices": """
from torch.utils.data import DataLoader, Dataset

class Listed(Dataset):
    def __init__(self):
        self.items = list(range(100))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]

    def __iter__(self):
        for item in self.items:
            yield item

loader = DataLoader(Listed(), num_workers=4)
""",
}
FAILS = {
    "numbers": mutant(
        _NUMBERS,
        ("        info = torch.utils.data.get_worker_info()\n", ""),
        ("        first, step = (info.id, info.num_workers) if info else (0, 1)\n", ""),
        ("range(first, self.count, step)", "range(self.count)"),
    ),
    "files": mutant(_FILES, ("worker_id=0, workers=1", "suffix"), ("[worker_id::workers]", "")),
    "base": mutant(
        _BASE,
        ("        info = data.get_worker_info()\n", ""),
        ("islice(self.rows(), info.id, None, info.num_workers)", "self.rows()"),
        ("from itertools import islice\n", ""),
    ),
    "an option": """
import argparse
from torch.utils.data import DataLoader, IterableDataset

class Lines(IterableDataset):
    def __init__(self, lines):
        self.lines = list(lines)

    def __iter__(self):
        for number, line in enumerate(self.lines):
            yield number, line

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=8)
args = parser.parse_args()
loader = DataLoader(Lines(open("a.txt")), batch_size=2, num_workers=args.workers)
""",
    "made by a class": """
from torch.utils.data import DataLoader, IterableDataset

class Windows(IterableDataset):
    def __init__(self, series, width):
        super().__init__()
        self.series, self.width = series, width

    def __iter__(self):
        for start in range(0, len(self.series) - self.width):
            yield self.series[start : start + self.width]

class Data:
    def __init__(self, series):
        self.train = Windows(series, 24)

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=16, num_workers=2)
""",
}
