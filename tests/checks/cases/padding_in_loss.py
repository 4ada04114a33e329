"""Programs for padding-in-loss: must be found in FAILS, and not in SILENT."""

from . import mutants

DECODER = """
# file: decoder.py
from torch import nn

class Decoder(nn.Module):
    def __init__(self, v, d, pad):
        super().__init__()
        self.embed = nn.Embedding(v, d, padding_idx=pad)
        self.rnn, self.out = nn.LSTM(d, d, batch_first=True), nn.Linear(d, v)

    def forward(self, tokens):
        hidden, _ = self.rnn(self.embed(tokens))
        return self.out(hidden)
"""
FAILS, ORIGINALS = mutants(
    {
        "padded in the step": (
            """
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

def step(model, batch, pad):
    words = pad_sequence([w for w, _ in batch], batch_first=True, padding_value=pad)
    tags = pad_sequence([t for _, t in batch], batch_first=True, padding_value=pad)
    return F.cross_entropy(model(words).transpose(1, 2), tags, ignore_index=pad)
""",
            ", ignore_index=pad",
            "",
        ),
        "language model in a trainer": (
            DECODER
            + """
# file: train.py
from torch import nn
from decoder import Decoder

class Trainer:
    def __init__(self, v, pad):
        self.net = Decoder(v, 32, pad)
        self.criterion = nn.CrossEntropyLoss(ignore_index=pad)

    def step(self, tokens):
        logits = self.net(tokens[:, :-1])
        return self.criterion(logits.reshape(-1, logits.size(-1)), tokens[:, 1:].reshape(-1))
""",
            "nn.CrossEntropyLoss(ignore_index=pad)",
            "nn.CrossEntropyLoss()",
        ),
        "labels padded with a value that means something": (
            """
from torch import nn
from torch.nn.utils.rnn import pad_sequence

criterion = nn.CrossEntropyLoss()

def loss_of(model, xs, ys):
    x, y = pad_sequence(xs), pad_sequence(ys, padding_value=-100)
    return criterion(model(x).view(-1, 20), y.view(-1))
""",
            ", padding_value=-100",
            ", padding_value=0",
        ),
        "helper in another file": (
            """
# file: batches.py
from torch.nn.utils.rnn import pad_sequence

def padded(sequences):
    return pad_sequence(sequences, True, -100)
# file: main.py
import torch.nn.functional as F
from batches import padded

def train(tagger, loader, opt):
    for xs, ys in loader:
        loss = F.cross_entropy(tagger(padded(xs)).flatten(0, 1), padded(ys).flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
            "True, -100)",
            "True, 0)",
        ),
        "lightning": (
            DECODER
            + """
# file: lit.py
import lightning as L
import torch.nn.functional as F
from decoder import Decoder

class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.decoder = Decoder(60, 8, 0)

    def training_step(self, batch, i):
        out = self.decoder(batch[:, :-1])
        return F.cross_entropy(out.flatten(0, 1), batch[:, 1:].flatten(), ignore_index=0)
""",
            ", ignore_index=0)",
            ")",
        ),
    }
)
SILENT = ORIGINALS | {
    "one label for each sentence": """
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

def step(model, sentences, labels):
    return F.cross_entropy(model(pad_sequence(sentences)), labels)
""",
    "weighted by hand": """
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

def step(model, xs, ys):
    y = pad_sequence(ys, batch_first=True)
    each = F.cross_entropy(model(xs).transpose(1, 2), y, reduction="none")
    return (each * (y > 0)).sum()
""",
    "masked labels": """
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

def step(model, xs, ys, pad):
    y = pad_sequence(ys, batch_first=True)
    y = y.masked_fill(y == pad, -100)
    return F.cross_entropy(model(xs).transpose(1, 2), y)
""",
    "selected positions": """
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

def step(model, xs, ys, mask):
    y = pad_sequence(ys, batch_first=True)
    return F.cross_entropy(model(xs)[mask], y[mask])
""",
    "fixed blocks": """
import torch.nn.functional as F

def step(model, x, y):
    return F.cross_entropy(model(x).view(-1, 50), y.view(-1))
""",
    "weights of the classes": """
from torch import nn
from torch.nn.utils.rnn import pad_sequence

def step(model, xs, ys, weights):
    criterion = nn.CrossEntropyLoss(weight=weights)
    return criterion(model(xs).transpose(1, 2), pad_sequence(ys, batch_first=True))
""",
    "inputs and labels cut to one length by a helper": """
from torch import nn
from torch.nn.utils.rnn import pad_sequence

class Expert(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.objective = nn.CrossEntropyLoss()

    def cut(self, inputs, labels):
        given, wanted = inputs.size(1), labels.size(-1)
        if given > wanted:
            inputs = inputs[:, :wanted, :]
        elif given < wanted:
            labels = labels[:, :given]
        return inputs, labels

    def forward(self, features, labels):
        features = pad_sequence(features, batch_first=True)
        labels = pad_sequence(labels, batch_first=True, padding_value=-100)
        features, labels = self.cut(features, labels)
        predicted = self.model(features)
        return self.objective(predicted.reshape(-1, 9), labels.reshape(-1))
""",
    "encoder with padding, classes as labels": """
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.o = nn.Embedding(9, 4, padding_idx=0), nn.Linear(4, 3)

    def forward(self, x):
        return self.o(self.e(x).mean(1))

net = Net()

def step(x, y):
    return F.cross_entropy(net(x), y)
""",
}
