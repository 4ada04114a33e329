"""Programs for sorted-apart."""

from ._programs import mutant

_COLLATE = """
import torch
from torch.nn.utils.rnn import pad_sequence


def collate(batch):
    ordered = sorted(batch, key=lambda one: len(one[0]), reverse=True)
    clips = [one[0] for one in ordered]
    lengths = torch.tensor([len(one[0]) for one in ordered])
    labels = torch.LongTensor([one[1] for one in ordered])
    return pad_sequence(clips, batch_first=True), lengths, labels
"""
_IN_PLACE = """
import torch
from torch.nn.utils.rnn import pad_sequence


def collate(data):
    data.sort(key=lambda one: len(one["tokens"]), reverse=True)
    tokens = pad_sequence([one["tokens"] for one in data])
    tags = [one["tag"] for one in data]
    return {"tokens": tokens, "tags": torch.tensor(tags)}
"""
_TABLES = """
import pandas as pd


def collate(data):
    x = pd.concat([row[0] for row in data]).sort_index()
    y = pd.concat([row[1] for row in data]).sort_index()
    return x, y
"""
_INDICES = """
class Pairs:
    def argsort(self, sentences):
        return sorted(range(len(sentences)), key=lambda i: len(sentences[i]))

    def load(self, english, chinese):
        order = self.argsort(english)
        english = [english[i] for i in order]
        chinese = [chinese[i] for i in order]
        return english, chinese
"""
SILENT = {
    "given back in the order that was asked for": """
def predict(model, texts):
    names = [one.name for one in texts]
    longest_first = sorted(texts, key=len)
    outputs = [model(one.words) for one in longest_first]
    keys = [one.name for one in longest_first]
    by_name = dict(zip(keys, outputs))
    return [by_name[name] for name in names]
""",
    "two counts that are shown": """
def show(frame):
    by_age = frame["age"].value_counts().sort_index()
    by_city = frame["city"].value_counts()
    print(by_age, by_city)
    return by_age, by_city
""",
    "one part in two orders": """
def curriculum(examples):
    as_given = [one.x for one in examples]
    easy_first = [one.x for one in sorted_examples] if False else [one.x for one in examples]
    ordered = sorted(examples, key=len)
    easy_first = [one.x for one in ordered]
    return easy_first, as_given
""",
    "indices": _INDICES,
    "indices, each time anew": mutant(
        _INDICES,
        ("english[i] for i in order]\n", "english[i] for i in self.argsort(english)]\n"),
        ("        order = self.argsort(english)\n", "        whole = english\n        order = self.argsort(english)\n"),
    ),
    "collate": _COLLATE,
    "in place": _IN_PLACE,
    "tables": _TABLES,
    "only the longest is asked for": """
def collate(batch):
    lengths = [len(one[0]) for one in batch]
    ordered = sorted(batch, key=lambda one: len(one[0]))
    clips = [one[0] for one in ordered]
    return pad(clips, max(lengths))
""",
    "each in its own branch": """
def collate(batch, by_length):
    if by_length:
        ordered = sorted(batch, key=lambda one: len(one[0]))
        clips, labels = None, [one[1] for one in ordered]
        clips = [one[0] for one in ordered]
    else:
        labels = [one[1] for one in batch]
        clips = [one[0] for one in batch]
    return clips, labels
""",
    "unzipped": mutant(_COLLATE, ("    clips = [one[0] for one in ordered]\n", "    clips, labels = zip(*ordered)\n")),
    "given another value before": mutant(
        _COLLATE, ("    ordered =", "    labels = [one[1] for one in batch]\n    ordered =")
    ),
    "names of files": """
def listed(files):
    names = [one.name for one in files]
    files.sort()
    paths = [one.path for one in files]
    return len(names), paths
""",
    "two tables by columns of their own": """
import pandas as pd

def load(folder):
    users = pd.read_csv(folder + "/users.csv").sort_values("id")
    items = pd.read_csv(folder + "/items.csv")
    return users
""",
}
FAILS = {
    "labels as they came": mutant(_COLLATE, ("one[1] for one in ordered", "one[1] for one in batch")),
    "clips as they came": mutant(_COLLATE, ("[one[0] for one in ordered]\n    lengths", "[one[0] for one in batch]\n    lengths")),
    "unpacked": mutant(_COLLATE, ("one[1] for one in ordered", "label for _, label in batch")),
    "unzipped, and one taken again": mutant(
        _COLLATE,
        ("    clips = [one[0] for one in ordered]\n", "    clips, labels = zip(*ordered)\n"),
        ("torch.LongTensor([one[1] for one in ordered])", "[one[1] for one in batch]"),
        ("return pad_sequence", "labels, lengths = map(torch.LongTensor, [labels, lengths])\n    return pad_sequence"),
    ),
    "sorted too late": mutant(
        _IN_PLACE,
        ("    data.sort(key=lambda one: len(one[\"tokens\"]), reverse=True)\n", "    tags = [one[\"tag\"] for one in data]\n    data.sort(key=lambda one: len(one[\"tokens\"]), reverse=True)\n"),
        ("    tags = [one[\"tag\"] for one in data]\n    return", "    return"),
    ),
    "each by its own lengths": mutant(_INDICES, ("chinese[i] for i in order", "chinese[i] for i in self.argsort(chinese)")),
    "one table": mutant(_TABLES, ("row[1] for row in data]).sort_index()", "row[1] for row in data])")),
    "the other table": mutant(_TABLES, ("row[0] for row in data]).sort_index()", "row[0] for row in data])")),
}  # fmt: skip
