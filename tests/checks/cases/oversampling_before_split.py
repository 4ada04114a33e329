"""Programs for oversampling-before-split."""

from ._programs import mutant

_SMOTE = """
from imblearn.over_sampling import SMOTE
from sklearn.model_selection import train_test_split

def load(X, y):
    sampler = SMOTE(random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(X, y)
    X_train, y_train = sampler.fit_resample(X_train, y_train)
    return X_train, X_test, y_train, y_test
"""

FAILS = {
    "invented examples": mutant(
        _SMOTE,
        (
            "    X_train, X_test, y_train, y_test = train",
            "    X, y = sampler.fit_resample(X, y)\n    X_train, X_test, y_train, y_test = train",
        ),
        ("    X_train, y_train = sampler.fit_resample(X_train, y_train)\n", ""),
    ),
    "repeated rows in a script": """
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.utils import resample

data = pd.read_csv("x.csv")
few, many = data[data.y == 1], data[data.y == 0]
more = resample(few, n_samples=len(many))
data = pd.concat([many, more])
train, test = train_test_split(data)
""",
    "a method, with a random split": """
import torch
from imblearn.over_sampling import RandomOverSampler
from torch.utils.data import TensorDataset, random_split

class Data:
    def __init__(self, X, y):
        self.sampler = RandomOverSampler()
        X, y = self.sampler.fit_resample(X, y)
        whole = TensorDataset(torch.as_tensor(X), torch.as_tensor(y))
        self.train, self.val = random_split(whole, [0.8, 0.2])
""",
    "module and old name": """
import imblearn
from sklearn import model_selection

def prepare(features, target):
    balanced, balanced_target = imblearn.over_sampling.ADASYN().fit_sample(features, target)
    return model_selection.train_test_split(balanced, balanced_target)
""",
    "combined": """
from imblearn.combine import SMOTEENN
from sklearn.model_selection import train_test_split

def prepare(X, y):
    X_new, y_new = SMOTEENN().fit_resample(X, y)
    X_new = X_new / 255
    return train_test_split(X_new, y_new)
""",
}

SILENT = {
    "training part": _SMOTE,
    "fewer, not more": """
from imblearn.under_sampling import RandomUnderSampler
from sklearn.model_selection import train_test_split

def load(X, y):
    X, y = RandomUnderSampler().fit_resample(X, y)
    return train_test_split(X, y)
""",
    "a signal is resampled": """
from scipy.signal import resample
from sklearn.model_selection import train_test_split

def load(waves, y):
    waves = resample(waves, 16000)
    return train_test_split(waves, y)
""",
    "without replacement": """
from sklearn.model_selection import train_test_split
from sklearn.utils import resample

def load(rows):
    rows = resample(rows, replace=False, n_samples=1000)
    return train_test_split(rows)
""",
}
