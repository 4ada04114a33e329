"""Programs for value-left-unread."""

from ._programs import mutant

_VAE = """
import torch
from torch.nn import functional as F


def train(model, loader, optimizer, beta):
    for x, _ in loader:
        decoded, mean, log_var = model(x)
        recon_loss = F.mse_loss(decoded, x)
        kl_loss = -0.5 * torch.mean(1 + log_var - mean.pow(2) - log_var.exp())
        optimizer.zero_grad()
        loss = recon_loss + beta * kl_loss
        loss.backward()
        optimizer.step()
"""
_CRITERION = """
from torch import nn


class Both(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.dice, self.bce, self.weight = Dice(), nn.BCEWithLogitsLoss(), weight

    def forward(self, logits, masks):
        dice = self.dice(logits, masks)
        bce = self.bce(logits, masks)
        return self.weight * dice + (1 - self.weight) * bce
"""
_TAGGER = """
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def encode(lstm, words, lengths):
    lengths, order = lengths.sort(descending=True)
    _, back = order.sort()
    packed = pack_padded_sequence(words[order], lengths.cpu(), batch_first=True)
    out, _ = pad_packed_sequence(lstm(packed)[0], batch_first=True)
    return out[back]
"""
_DECODER = """
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(size, 4), 2)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(len(tokens))
        return self.layers(tokens, mask)
"""
_CLASSES = """
import torch
from torch.nn import functional as F


def fit(model, loader, optimizer, counts):
    class_weights = counts.sum() / counts
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y, class_weights).backward()
        optimizer.step()
"""
_FLIP = """
import random

def random_flip(img, boxes):
    if random.random() < 0.5:
        return img, boxes
    h, w, _ = img.shape
    img = img[:, ::-1]
    x1, x2 = boxes[:, 0], boxes[:, 2]
    x1_new = w - x2
    x2_new = w - x1
    boxes[:, 0], boxes[:, 2] = x1_new, x2_new
    return img, boxes
"""
_LEFT = ("recon_loss + beta * kl_loss", "recon_loss")

SILENT = {
    "a function that goes backward": """
def losses_and_backward(net, optimizer, x):
    optimizer.zero_grad()
    loss = net(x).square().mean()
    loss.backward()
    return loss

def fit(net, optimizer, loader):
    for x in loader:
        loss_val = losses_and_backward(net, optimizer, x)
        optimizer.step()
        other = net(x).mean()
        other.backward()
""",
    "a step that trains inside": """
def fit(self, loader, optimizer):
    for batch in loader:
        critic_loss = self.update_critic(batch)
        actor = self.actor(batch).mean()
        optimizer.zero_grad()
        actor.backward()
        optimizer.step()
""",
    "vae": _VAE,
    "criterion": _CRITERION,
    "tagger": _TAGGER,
    "decoder": _DECODER,
    "classes": _CLASSES,
    "flip": _FLIP,
    "an object that computes a loss": mutant(_CLASSES, ("    for x, y in", "    aux_loss = CharbonnierLoss(1e-3)\n    for x, y in")),
    "a rest that nobody needs": mutant(_FLIP, ("    img = img[:, ::-1]\n", "    img = img[:, ::-1]\n    rest = len(boxes) - 1\n")),
    "a loss that is shown": mutant(_VAE, _LEFT, ("        optimizer.step()\n", "        optimizer.step()\n        print(kl_loss)\n")),
    "a term that is left out, and said so": mutant(_VAE, _LEFT, ("loss = recon_loss\n", "loss = recon_loss  # + beta * kl_loss\n")),
    "a loss that is only measured": """
def evaluate(model, loader, criterion):
    right = 0
    for x, y in loader:
        out = model(x)
        loss = criterion(out, y)
        right += (out.argmax(1) == y).sum()
    return right
""",
    "a loop whose loss nobody wants": """
def run(model, loader, optimizer, epochs):
    for epoch in range(epochs):
        train_loss = train_one_epoch(model, loader, optimizer)
        (model.weight ** 2).sum().backward()
""",
    "the values that are sorted": """
def top(scores, order):
    best, where = scores.sort()
    return best
""",
    "ranks of scores": """
import torch

def ranks(scores, k):
    order = torch.argsort(scores)
    return scores[order][:k]
""",
    "read by a function inside": mutant(_CLASSES, ("F.cross_entropy(model(x), y, class_weights)", "weigh(model(x), y)"), ("    for x, y", "    weigh = lambda a, b: F.cross_entropy(a, b, class_weights)\n    for x, y")),
    "a mask that is cut out of another": """
def forward(self, x, padding):
    mask = padding[:, :10]
    return self.net(x)
""",
}  # fmt: skip
FAILS = {
    "vae": mutant(_VAE, _LEFT),
    "vae, without a name for the sum": mutant(_VAE, ("        loss = recon_loss + beta * kl_loss\n        loss.backward()", "        recon_loss.backward()")),
    "criterion": mutant(_CRITERION, ("bce = self.bce", "bce_loss = self.bce"), ("dice = self.dice", "dice_loss = self.dice"), ("self.weight * dice + (1 - self.weight) * bce", "self.weight * dice_loss")),
    "the other term twice": mutant(_VAE, ("recon_loss + beta * kl_loss", "recon_loss + beta * recon_loss")),
    "tagger": mutant(_TAGGER, ("out[back]", "out[order]")),
    "tagger, with argsort": mutant(_TAGGER, ("_, back = order.sort()", "back = torch.argsort(order)"), ("out[back]", "out")),
    "tagger, by an index": mutant(_TAGGER, ("_, back = order.sort()", "back = order.sort()[1]"), ("out[back]", "out[order]")),
    "decoder": mutant(_DECODER, ("self.layers(tokens, mask)", "self.layers(tokens)")),
    "decoder, by hand": mutant(_DECODER, ("nn.Transformer.generate_square_subsequent_mask(len(tokens))", "torch.triu(torch.full((9, 9), float(\"-inf\")), 1)"), ("(tokens, mask)", "(tokens)")),
    "flip": mutant(_FLIP, ("    boxes[:, 0], boxes[:, 2] = x1_new, x2_new\n", "")),
    "flip, one side": mutant(_FLIP, ("boxes[:, 0], boxes[:, 2] = x1_new, x2_new", "boxes[:, 0], boxes[:, 2] = x1, x2_new")),
    "classes": mutant(_CLASSES, ("model(x), y, class_weights", "model(x), y")),
}  # fmt: skip

SILENT["an index that is written to"] = """
import torch

class Bank(torch.nn.Module):
    def forward(self, feature, idx, mask):
        idx = idx.unsqueeze(-1)
        self.bank[idx] = feature
        mask = mask.unsqueeze(1)
        return feature * mask
"""
FAILS["a norm that is not used"] = """
import torch

class Decoder(torch.nn.Module):
    # norm: [B, K, 1]

    def forward(self, weights, mask, norm):
        norm = torch.unsqueeze(norm, 2)
        source = weights.unsqueeze(2) * mask
        return self.basis(source)
"""
_RANKING = """
import torch

def rank(user, scores, train_items, test_items, n, k):
    try:
        training_items = train_items[user]
    except KeyError:
        training_items = []
    candidates = list(set(range(n)) - set(training_items))
    best = sorted(candidates, key=lambda item: scores[item], reverse=True)[:k]
    return torch.tensor([item in test_items[user] for item in best]).float().mean()
"""
SILENT["a ranking without the items of training"] = _RANKING
SILENT["a ranking with nothing to leave out"] = mutant(
    mutant(
        _RANKING,
        (
            "    try:\n        training_items = train_items[user]\n    except KeyError:\n        training_items = []\n",
            "",
        ),
    ),
    (" - set(training_items)", ""),
)
FAILS["the items of training are ranked"] = mutant(_RANKING, (" - set(training_items)", ""))
