"""Programs for wrong-direction."""

from ._programs import mutant

_PLATEAU = """
import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau
from scoring import accuracy

def fit(model, train, loader, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = ReduceLROnPlateau(optimizer, mode="max", factor=0.5, patience=2)
    for epoch in range(epochs):
        loss = train(model, optimizer)
        val_acc = accuracy(model, loader)
        scheduler.step(val_acc)
"""
_TRAINER = """
import torch

class Trainer:
    def __init__(self, model, loader, val_loader):
        self.model, self.loader, self.val_loader = model, loader, val_loader
        self.optimizer = torch.optim.AdamW(model.parameters())
        self.plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(self.optimizer, "max", patience=5)

    def validate(self):
        right = 0
        for x, y in self.val_loader:
            right += (self.model(x).argmax(1) == y).sum().item()
        return {"loss": 0.0, "f1_macro": right / len(self.val_loader)}

    def run(self, epochs):
        for epoch in range(epochs):
            self.train()
            logs = self.validate()
            self.plateau.step(logs["f1_macro"])
"""
_MADE = """
import torch

def make_scheduler(name, optimizer, epochs):
    if name == "cosine":
        return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    return torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="min", factor=0.1)

def main(args, model, train, evaluate):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scheduler = make_scheduler(args.scheduler, optimizer, args.epochs)
    for epoch in range(args.epochs):
        train(model, optimizer)
        val_loss, iou = evaluate(model)
        if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
            scheduler.step(val_loss)
        else:
            scheduler.step()
"""
_CALLBACKS = """
import pytorch_lightning as pl
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint

def main(model, data):
    best = ModelCheckpoint(monitor="val/mIoU", mode="max", save_top_k=1)
    stop = EarlyStopping(monitor="val/loss", patience=5)
    pl.Trainer(callbacks=[best, stop]).fit(model, data)
"""
_CONFIGURED = """
import lightning
import torch

class Module(lightning.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", patience=3)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "monitor": "val_auroc"}}
"""
_ARGUMENTS = """
from transformers import Trainer, TrainingArguments

def main(model, train_set, val_set, compute_metrics):
    arguments = TrainingArguments(
        "out", eval_strategy="epoch", save_strategy="epoch", load_best_model_at_end=True,
        metric_for_best_model="wer", greater_is_better=False,
    )
    trainer = Trainer(model, arguments, train_dataset=train_set, eval_dataset=val_set, compute_metrics=compute_metrics)
    trainer.train()
"""
_BY_HAND = """
import torch

def fit(model, train, validate, epochs):
    best_acc = 0.0
    for epoch in range(epochs):
        train(model)
        acc = validate(model)
        if acc > best_acc:
            best_acc = acc
            torch.save(model.state_dict(), "best.pt")
"""
_EITHER = """
import torch

def fit(model, train, validate, epochs, mode):
    best = None
    for epoch in range(epochs):
        train(model)
        acc = validate(model)
        if best is None or mode == "min" and acc < best or mode == "max" and acc > best:
            best = acc
            torch.save(model.state_dict(), "best.pt")
"""
SILENT = {
    "waits for a rise": _PLATEAU,
    "waits for a fall of what is left to 1": mutant(
        _PLATEAU, ('mode="max", ', ""), ("scheduler.step(val_acc)", "scheduler.step(1 - val_acc)")
    ),
    "waits for the loss to fall": mutant(_PLATEAU, ('mode="max", ', ""), ("step(val_acc)", "step(loss)")),
    "a negative score under its name": mutant(
        _PLATEAU, ('mode="max", ', ""), ("val_acc = accuracy(model, loader)", "val_acc = -accuracy(model, loader)")
    ),
    "a function gives the loss back, whatever it is called": mutant(
        _PLATEAU, ('mode="max", ', ""), ("from scoring import accuracy\n", "")
    )
    + """
def accuracy(model, loader):
    total_loss = sum(model(x).mean().item() for x in loader)
    return total_loss
""",
    "a loss that is named after a score": mutant(_PLATEAU, ('mode="max", ', ""), ("step(val_acc)", "step(dice_loss)")),
    "a name that does not tell": mutant(
        _PLATEAU, ('mode="max", ', ""), ("val_acc = accuracy(", "score = evaluate("), ("step(val_acc)", "step(score)")
    ),
    "the way is a setting": mutant(_PLATEAU, ("loader, epochs", "loader, epochs, mode"), ('mode="max"', "mode=mode")),
    "another schedule": mutant(
        _PLATEAU,
        (
            'ReduceLROnPlateau(optimizer, mode="max", factor=0.5, patience=2)',
            "torch.optim.lr_scheduler.StepLR(optimizer, 9)",
        ),
    ),
    "in a class": _TRAINER,
    "made by a function": _MADE,
    "callbacks": _CALLBACKS,
    "every checkpoint is kept": mutant(_CALLBACKS, ('mode="max", save_top_k=1', "save_top_k=-1")),
    "an old Lightning, which goes by the name": mutant(_CALLBACKS, (', mode="max"', ', filepath="best"')),
    "a Lightning of that time": "# file: main.py"
    + mutant(_CALLBACKS, (', mode="max"', ""))
    + "# file: requirements.txt\npytorch-lightning==1.0.8\n",
    "a gap between two scores": mutant(_CALLBACKS, ("val/mIoU", "train_val_mIoU_gap"), ('mode="max"', 'mode="min"')),
    "a class of the project": mutant(
        _CALLBACKS,
        ("EarlyStopping, ModelCheckpoint", "EarlyStopping\nfrom saving import ModelCheckpoint"),
        ('mode="max", ', ""),
    ),
    "configured": _CONFIGURED,
    "the best model": _ARGUMENTS,
    "the best model by the loss, as it is": mutant(_ARGUMENTS, ('"wer", greater_is_better=False', '"eval_loss"')),
    "no best model is loaded": mutant(
        _ARGUMENTS, (" load_best_model_at_end=True,", ""), (", greater_is_better=False", "")
    ),
    "by hand": _BY_HAND,
    "by hand, either way": _EITHER,
    "by hand, a score of a dictionary": mutant(
        _BY_HAND, ("if acc >", 'if acc["acc"] >'), ("best_acc = acc", 'best_acc = acc["acc"]')
    ),
}
FAILS = {
    "a Lightning of today": "# file: main.py"
    + mutant(_CALLBACKS, (', mode="max"', ""))
    + "# file: requirements.txt\npytorch-lightning==1.10.0\n",
    "waits for a fall": mutant(_PLATEAU, ('mode="max", ', "")),
    "waits for the loss to rise": mutant(_PLATEAU, ("step(val_acc)", "step(loss)")),
    "a name that does not tell is given an accuracy": mutant(
        _PLATEAU, ('mode="max", ', ""), ("val_acc = accuracy", "score = accuracy"), ("step(val_acc)", "step(score)")
    ),
    "a percentage": mutant(_PLATEAU, ('mode="max", ', ""), ("step(val_acc)", "step(metrics=100.0 * val_acc.item())")),
    "in a class": mutant(_TRAINER, ('self.optimizer, "max", ', "self.optimizer, ")),
    "made by a function": mutant(_MADE, ("step(val_loss)", "step(iou)")),
    "a checkpoint keeps the worst": mutant(_CALLBACKS, (', mode="max"', "")),
    "an early stop waits for a loss to rise": mutant(_CALLBACKS, ("patience=5", 'patience=5, mode="max"')),
    "configured": mutant(_CONFIGURED, ('mode="max", ', "")),
    "the worst model by its word errors": mutant(_ARGUMENTS, (", greater_is_better=False", "")),
    "the worst model by its accuracy": mutant(_ARGUMENTS, ('"wer"', '"accuracy"')),
    "by hand": mutant(_BY_HAND, ("best_acc = 0.0", "best_acc = 1.0"), ("acc > best_acc", "acc < best_acc")),
    "by hand, told to the save": """
import torch

def save_checkpoint(state, is_best):
    torch.save(state, "best.pt" if is_best else "last.pt")

def main(model, train, validate, epochs):
    best_loss = 0.0
    for epoch in range(epochs):
        train(model)
        val_loss = validate(model)
        is_best = val_loss > best_loss
        best_loss = max(val_loss, best_loss)
        save_checkpoint(model.state_dict(), is_best)
""",
}

_LEAST = """
import os
import torch

def train(model, args, run, evaluate, epochs):
    min_loss, best_epoch = float("inf"), -1
    for epoch in range(epochs):
        run(model)
        mean_loss = evaluate(model) / 10
        if mean_loss < min_loss:
            min_loss = mean_loss
            best_epoch = epoch
            torch.save(model.state_dict(), os.path.join(args.folder, "lowest.pth"))
    print(best_epoch)
"""
_KEPT = """
import copy
import torch

def train(model, run, calc_psnr, epochs, path):
    best_psnr, best_weights = 0.0, None
    for epoch in range(epochs):
        run(model)
        psnr = calc_psnr(model)
        if psnr > best_psnr:
            best_psnr = psnr
            best_weights = copy.deepcopy(model.state_dict())
    torch.save(best_weights, path)
"""
_OWN = """
import torch

def __save_model(folder, model):
    torch.save(model.state_dict(), folder + "/model.pth")

def train(model, args, run, evaluate, epochs):
    best_val_loss = 1e4
    for epoch in range(epochs):
        run(model)
        val_loss = evaluate(model)
        if not args.save_best_val_model or val_loss < best_val_loss:
            best_val_loss = val_loss
            __save_model(args.folder, model)
"""
SILENT |= {"the least": _LEAST, "kept weights": _KEPT, "a function of one's own": _OWN}
FAILS |= {
    "the least": mutant(_LEAST, ("mean_loss < min_loss", "mean_loss > min_loss")),
    "kept weights": mutant(_KEPT, ("psnr > best_psnr", "psnr < best_psnr")),
    "a function of one's own": mutant(_OWN, ("val_loss < best_val_loss", "val_loss > best_val_loss")),
}
