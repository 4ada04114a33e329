"""Programs for fit-before-split."""

from ._programs import mutant

_FUNCTION = """
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

def load(X, y):
    scaler = StandardScaler()
    X_train, X_test, y_train, y_test = train_test_split(X, y)
    X_train = scaler.fit_transform(X_train)
    X_test = scaler.transform(X_test)
    return X_train, X_test, y_train, y_test
"""
_CLASS = """
import numpy as np
import torch
from sklearn.preprocessing import MinMaxScaler
from torch.utils.data import TensorDataset, random_split

class Data:
    def __init__(self, frame):
        self.scaler = MinMaxScaler()
        values = frame.values.astype(np.float32)
        dataset = TensorDataset(torch.from_numpy(values))
        self.train, self.test = random_split(dataset, [80, 20])
        self.scaler.fit(values[self.train.indices])
"""

_NUMBERED = """
import pandas as pd
from sklearn.preprocessing import LabelEncoder, OrdinalEncoder
from sklearn.feature_extraction.text import CountVectorizer

def load(train_df, test_df):
    classes = LabelEncoder()
    y_train = classes.fit_transform(train_df["label"])
    y_test = classes.transform(test_df["label"])
    words = CountVectorizer(max_features=500)
    x_train = words.fit_transform(train_df.text.values)
    x_test = words.transform(test_df.text.values)
    return x_train, y_train, x_test, y_test
"""
FAILS = {
    "classes numbered anew": mutant(
        _NUMBERED, ('classes.transform(test_df["label"])', 'classes.fit_transform(test_df["label"])')
    ),
    "classes numbered by another": mutant(
        _NUMBERED, ('classes.transform(test_df["label"])', 'LabelEncoder().fit_transform(test_df["label"])')
    ),
    "words numbered anew": mutant(
        _NUMBERED, ("words.transform(test_df.text.values)", "words.fit_transform(test_df.text.values)")
    ),
    "a column is looked at, rows are examples": """
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

def load(fields):
    scaler = MinMaxScaler()
    scaler.fit(fields)
    fields = scaler.transform(fields)
    print(fields[:, 0])
    for i in range(8):
        print(fields[i])
    train, test = train_test_split(fields, test_size=0.1)
    return train, test, [fields[:, i].mean() for i in range(8)]
""",
    "scaler": mutant(
        _FUNCTION,
        (
            "    X_train, X_test, y_train, y_test = train",
            "    X = scaler.fit_transform(X)\n    X_train, X_test, y_train, y_test = train",
        ),
        ("    X_train = scaler.fit_transform(X_train)\n    X_test = scaler.transform(X_test)\n", ""),
    ),
    "fit, then transform": mutant(
        _FUNCTION,
        (
            "    X_train, X_test, y_train, y_test = train_test_split(X, y)",
            "    scaler.fit(X)\n    Z = scaler.transform(X)\n    X_train, X_test, y_train, y_test = train_test_split(Z, y)",
        ),
        ("    X_train = scaler.fit_transform(X_train)\n    X_test = scaler.transform(X_test)\n", ""),
    ),
    "fitted on the test part": mutant(_FUNCTION, ("scaler.transform(X_test)", "scaler.fit_transform(X_test)")),
    "a dataset in a class": mutant(
        _CLASS,
        (
            "        values = frame.values.astype(np.float32)\n",
            "        values = self.scaler.fit_transform(frame.values)\n",
        ),
        ("        self.scaler.fit(values[self.train.indices])\n", ""),
    ),
    "selection by the labels, in a script": """
import pandas as pd
from sklearn import feature_selection, model_selection

frame = pd.read_csv("genes.csv")
X, y = frame.drop(columns="label"), frame["label"]
best = feature_selection.SelectKBest(k=50).fit_transform(X, y)
train_X, test_X, train_y, test_y = model_selection.train_test_split(best, y)
""",
    "components": """
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

def run(images, labels):
    flat = images.reshape(len(images), -1)
    reduced = PCA(n_components=20).fit_transform(flat)
    parts = train_test_split(reduced, labels, test_size=0.3)
    return parts
""",
}

SILENT = {
    "given the words": mutant(
        _NUMBERED,
        ("CountVectorizer(max_features=500)", "CountVectorizer(vocabulary=WORDS)"),
        ("words.transform(test_df.text.values)", "words.fit_transform(test_df.text.values)"),
    ),
    "numbered once": _NUMBERED,
    "numbered for all": mutant(
        _NUMBERED,
        ('classes.fit_transform(train_df["label"])', 'classes.fit_transform(pd.concat([train_df, test_df])["label"])'),
    ),
    "function": _FUNCTION,
    "class": _CLASS,
    "labels are coded": """
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import LabelEncoder

def load(X, names):
    y = LabelEncoder().fit_transform(names)
    return train_test_split(X, y)
""",
    "another array is split": """
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

def look(X, y):
    drawn = PCA(2).fit_transform(X)
    X_train, X_test, y_train, y_test = train_test_split(X, y)
    return drawn, X_train, X_test
""",
    "training part only": """
from sklearn.preprocessing import StandardScaler

def scale(train_x, val_x):
    scaler = StandardScaler().fit(train_x)
    return scaler.transform(train_x), scaler.transform(val_x)
""",
    "powers of each row, which learn nothing from the others": """
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import PolynomialFeatures

def load(x, y):
    powers = PolynomialFeatures(degree=4).fit_transform(x)
    return train_test_split(powers, y, test_size=0.3, random_state=42)
""",
    "a further split of the training part": """
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
def load(X, y):
    X_train, X_test, y_train, y_test = train_test_split(X, y)
    scaler = StandardScaler()
    X_train = scaler.fit_transform(X_train)
    X_test = scaler.transform(X_test)
    X_train, X_val, y_train, y_val = train_test_split(X_train, y_train)
    return X_train, X_val, X_test
""",
    "each example by itself": """
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.model_selection import train_test_split
import numpy as np
def per_row(X, y):
    X = np.array([StandardScaler().fit_transform(row.reshape(-1, 1)).ravel() for row in X])
    return train_test_split(X, y)
""",
    "a random projection learns no row": """
from sklearn.random_projection import GaussianRandomProjection
from sklearn.model_selection import train_test_split
def proj(X, y):
    X = GaussianRandomProjection(32).fit_transform(X)
    return train_test_split(X, y)
""",
    "transposed rows scaled": """
from sklearn.preprocessing import StandardScaler
from sklearn.model_selection import train_test_split
def rows(X, y):
    X = StandardScaler().fit_transform(X.T).T
    return train_test_split(X, y)
""",
    "SimpleImputer constant": """
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
def fill(X, y):
    X = SimpleImputer(strategy="constant", fill_value=0).fit_transform(X)
    return train_test_split(X, y)
""",
    "two domains, each by itself": """
from sklearn.preprocessing import StandardScaler
def domain(source_train, target_test):
    s = StandardScaler().fit_transform(source_train)
    t = StandardScaler().fit_transform(target_test)
    return s, t
""",
    "a training part cut in two": """
from sklearn.preprocessing import StandardScaler
from sklearn.model_selection import train_test_split
def simulate(X_train, y_train):
    X_train = StandardScaler().fit_transform(X_train)
    labelled, unlabelled = train_test_split(X_train, test_size=0.9)
    return labelled, unlabelled
""",
    "labels of the test scaled for a plot": """
from sklearn.preprocessing import MinMaxScaler
def plot(y_train, y_test, predicted, axes):
    axes.plot(MinMaxScaler().fit_transform(y_test))
    axes.plot(predicted, label=str(len(y_train)))
""",
    "columns are examples": """
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

def load(fields):
    scaler = MinMaxScaler()
    scaler.fit(fields)
    fields = scaler.transform(fields)
    images = np.zeros((fields.shape[1], 8, 8))
    for i in range(fields.shape[1]):
        images[i] = np.reshape(fields[:, i], (8, 8))
    return train_test_split(images, test_size=0.1)
""",
}
