"""Programs for swapped-arguments."""

from ._programs import mutant

_LOOP = """
import numpy as np
import torch
from sklearn import metrics

def evaluate(model, loader):
    model.eval()
    y_true, y_pred = [], []
    with torch.no_grad():
        for x, y in loader:
            y_pred.extend(model(x).argmax(1).tolist())
            y_true.extend(y.tolist())
    print(metrics.classification_report(y_true, y_pred))
    return metrics.f1_score(y_true, y_pred, average="weighted"), metrics.f1_score(y_true, y_pred, average="macro")
"""
_CLASS = """
import torch
from sklearn.metrics import precision_score

class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.criterion = torch.nn.BCEWithLogitsLoss()

    def step(self, batch):
        output = self.model(batch["image"])
        loss = self.criterion(output.squeeze(1), batch.labels.float())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return precision_score(batch.labels.numpy(), output.detach().numpy() > 0)
"""
_LIGHTNING = """
import pytorch_lightning as pl
import torch.nn.functional as F
from sklearn.metrics import recall_score

class Net(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        x, target = batch
        pred = self(x).sigmoid()
        return F.binary_cross_entropy(pred, target)

    def test_step(self, batch, batch_idx):
        x, target = batch
        predicted = self(x).sigmoid().round()
        self.log("recall", recall_score(target.cpu(), predicted.cpu()))
"""
_OWN = """
# file: train.py
from losses import tversky

def step(net, optimizer, x, labels):
    logits = net(x)
    loss = tversky(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# file: losses.py
def tversky(prediction, target, alpha=0.3):
    prediction = prediction.sigmoid()
    hit = (prediction * target).sum()
    return 1 - hit / (hit + alpha * prediction.sum() + (1 - alpha) * target.sum())
"""
SILENT = {
    "a loop": _LOOP,
    "a class": _CLASS,
    "lightning": _LIGHTNING,
    "a function of its own": _OWN,
    "an F1 that is the same both ways": mutant(_LOOP, ("metrics.f1_score(y_true, y_pred, average=\"macro\")", "metrics.f1_score(y_pred, y_true, average=\"macro\")")),
    "an accuracy": """
from sklearn.metrics import accuracy_score

def evaluate(model, x, labels):
    preds = model(x).argmax(1)
    return accuracy_score(preds, labels)
""",
    "names that do not tell": mutant(_CLASS, ("batch.labels.numpy(), output.detach().numpy() > 0", "y, x")),
    "labels that the model gave": """
from sklearn.metrics import recall_score

def evaluate(model, x, labels):
    pred_labels = model(x).argmax(1)
    target_preds = labels
    return recall_score(labels, pred_labels), recall_score(target_preds, pred_labels)
""",
    "given by name": """
from sklearn.metrics import r2_score

def evaluate(model, x, targets):
    outputs = model(x)
    return r2_score(y_pred=outputs, y_true=targets)
""",
    "a namesake of the project": """
def r2_score(pred, target):
    return 1 - (pred - target).square().sum() / (target - target.mean()).square().sum()

def evaluate(model, x, target):
    pred = model(x)
    return r2_score(pred, target)
""",
    "a measure of torchmetrics": """
from torchmetrics.functional import precision_score, recall_score

def evaluate(model, x, target):
    pred = model(x)
    return precision_score(pred, target), recall_score(pred, target)
""",
    "a divergence the other way round": """
import torch.nn.functional as F

def loss(net, x, target):
    pred = net(x).softmax(1)
    return F.kl_div((target + 1e-8).log(), pred, reduction="batchmean")
""",
    "alike but for the size": """
import torch

def dice(pred, target, eps=1e-6):
    n = pred.size(0)
    p, t = pred.view(n, -1), target.view(n, -1)
    return (1 - (2 * (p * t).sum(1) + eps) / (p.sum(1) + t.sum(1) + eps)).mean().to(pred.dtype)

def step(net, x, target):
    output = net(x).sigmoid()
    return dice(target, output)
""",
    "the two stand alike in it": """
import torch

def iou(target, pred):
    both = (target & pred).sum()
    return both / (target.sum() + pred.sum() - both)

def evaluate(model, x, target):
    pred = model(x) > 0
    return iou(pred, target)
""",
}  # fmt: skip
FAILS = {
    "a report": mutant(_LOOP, ("classification_report(y_true, y_pred)", "classification_report(y_pred, y_true)")),
    "a weighted F1": mutant(_LOOP, ("f1_score(y_true, y_pred, average=\"weighted\")", "f1_score(y_pred, y_true, average=\"weighted\")")),
    "attributes and comparisons": mutant(_CLASS, ("batch.labels.numpy(), output.detach().numpy() > 0", "output.detach().numpy(), batch.labels.numpy()")),
    "a loss in an attribute": mutant(_CLASS, ("output.squeeze(1), batch.labels.float()", "batch.labels.float(), output.squeeze(1)")),
    "a function for a loss": mutant(_LIGHTNING, ("F.binary_cross_entropy(pred, target)", "F.binary_cross_entropy(target, pred)")),
    "a recall": mutant(_LIGHTNING, ("target.cpu(), predicted.cpu()", "predicted.cpu(), target.cpu()")),
    "a function of the project": mutant(_OWN, ("tversky(logits, labels)", "tversky(labels, logits)")),
}  # fmt: skip
