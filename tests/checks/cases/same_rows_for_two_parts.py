"""Programs for same-rows-for-two-parts."""

from ._programs import mutant

_PROBE = """
import torch

def probe(embeds, labels, idx_train, idx_val, idx_test, fit, score):
    train_embs = embeds[0, idx_train]
    val_embs = embeds[0, idx_val]
    test_embs = embeds[0, idx_test]
    train_lbls = torch.argmax(labels[0, idx_train], dim=1)
    val_lbls = torch.argmax(labels[0, idx_val], dim=1)
    test_lbls = torch.argmax(labels[0, idx_test], dim=1)
    fitted = fit(train_embs, train_lbls, val_embs, val_lbls)
    return score(fitted, test_embs, test_lbls)
"""
_DICT = """
def get_dataset(data, test_split=0.5):
    split_ix = int(len(data["x"]) * test_split)
    split_data = {}
    for k in ["x", "dx"]:
        split_data[k], split_data["test_" + k] = data[k][:split_ix], data[k][split_ix:]
    return split_data
"""
_FOLDS = """
from sklearn.model_selection import KFold

def folds(x, y, fit, score):
    for train_index, test_index in KFold(5).split(x):
        x_train, x_test = x[train_index], x[test_index]
        y_train, y_test = y[train_index], y[test_index]
        score(fit(x_train, y_train), x_test, y_test)
"""
_SUBSETS = """
from torch.utils.data import DataLoader, Subset

def loaders(data, train_idx, val_idx):
    train_set = Subset(data, train_idx)
    val_set = Subset(data, val_idx)
    return DataLoader(train_set, 32, shuffle=True), DataLoader(val_set, 32)
"""
_SLICES = """
def windows(x, y, n):
    x_train = x[:n]
    y_train = y[:n]
    x_test = x[n:]
    y_test = y[n:]
    return x_train, y_train, x_test, y_test
"""
_ORDER = """
import numpy as np

def parted(n, n_test, n_val):
    order = np.random.permutation(n)
    test_rows = order[:n_test]
    val_rows = order[n_test : n_test + n_val]
    train_rows = order[n_test + n_val :]
    return train_rows, val_rows, test_rows
"""
_FRAMES = """
def parted(frame, first, second):
    train = frame.iloc[:first]
    val = frame.iloc[first:second]
    test = frame.iloc[second:]
    return train, val, test
"""
SILENT = {
    "columns of a series": """
def parted(series, n_train):
    train = series[:, :n_train]
    test = series[:, n_train:]
    return train, test
""",
    "probe": _PROBE,
    "order": _ORDER,
    "frames": _FRAMES,
    "counted back": """
def parted(x, n):
    x_train, x_test = x[:-n], x[-n:]
    return x_train, x_test
""",
    "the first of one, the last of the other": """
def parted(x, n, m):
    x_train = x[:n]
    x_test = x[-m:]
    return x_train, x_test
""",
    "a window of what came before": """
def parted(series, n, window):
    train = series[:n]
    test = series[n - window :]
    return train, test
""",
    "dict": _DICT,
    "folds": _FOLDS,
    "subsets": _SUBSETS,
    "slices": _SLICES,
    "read anew": """
def load(read, n):
    data = read("train")
    x_train = data[:n]
    data = read("test")
    x_test = data[:n]
    return x_train, x_test
""",
    "in two branches": """
def load(x, n, testing):
    if testing:
        x_test = x[:n]
    else:
        x_train = x[:n]
    return x
""",
    "columns": """
def parted(frame, features, train_frame, test_frame):
    x_train = train_frame[features]
    x_test = test_frame[features]
    return x_train, x_test
""",
    "names of files": """
def names(folders, test_slot):
    train_file = f"train_{folders[test_slot]}.csv"
    test_file = f"test_{folders[test_slot]}.csv"
    return train_file, test_file
""",
    "told apart far inside": """
import torch

def load(make, args, device, n):
    train_x = torch.tensor(args.rows[:n][0].items.first.numpy().astype("f")).to(device).float().reshape(n, -1)
    test_x = torch.tensor(args.cols[:n][0].items.first.numpy().astype("f")).to(device).float().reshape(n, -1)
    return train_x, test_x
""",
    "halves of gates": """
def gates(z, n):
    first, second = z[:n], z[n:]
    return first * second.sigmoid()
""",
    "elements of one kind": """
def split(batch):
    train_x, train_y = batch[0], batch[1]
    test_x, test_y = batch[0], batch[1]
    return train_x, train_y, test_x, test_y
""",
}
FAILS = {
    "probe": mutant(_PROBE, ("train_embs = embeds[0, idx_train]", "train_embs = embeds[0, idx_test]")),
    "probe, labels": mutant(_PROBE, ("argmax(labels[0, idx_train]", "argmax(labels[0, idx_test]")),
    "dict": mutant(_DICT, ("data[k][split_ix:]", "data[k][:split_ix]")),
    "folds": mutant(_FOLDS, ("x_test = x[train_index], x[test_index]", "x_test = x[train_index], x[train_index]")),
    "subsets": mutant(_SUBSETS, ("Subset(data, val_idx)", "Subset(data, train_idx)")),
    "slices": mutant(_SLICES, ("x_test = x[n:]", "x_test = x[:n]")),
    "validation in training": mutant(_ORDER, ("train_rows = order[n_test + n_val :]", "train_rows = order[n_test:]")),
    "test in training": mutant(_ORDER, ("train_rows = order[n_test + n_val :]", "train_rows = order[: n - n_val]")),
    "test in validation": mutant(_FRAMES, ("frame.iloc[first:second]", "frame.iloc[first:]")),
    "the first rows of each": mutant(_SLICES, ("x_test = x[n:]", "x_test = x[: n // 4]")),
    "within a tensor": mutant(
        _FRAMES,
        ("frame.iloc[:first]", "torch.tensor(frame.values[:second, 1:])"),
        ("frame.iloc[first:second]", "torch.tensor(frame.values[first:second, 1:])"),
    ),
}
