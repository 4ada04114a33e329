"""Programs for arguments-out-of-order."""

from ._programs import mutant

_HASHING = """
# file: main.py
import torch
from losses import hashing_loss
from setup import options

def train(epoch, dataloader, net, optimizer, m, alpha):
    for img, cls in dataloader:
        loss = hashing_loss(net(img), cls, m, alpha)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

def main(opt, net, train_loader, optimizer):
    for epoch in range(opt.niter):
        train(epoch, train_loader, net, optimizer, 2 * opt.bits, opt.alpha)

# file: losses.py
def hashing_loss(b, cls, m, alpha):
    return (m - b.abs()).clamp(min=0).mean() + alpha * (b.abs() - 1).abs().sum()

# file: setup.py
options = {}
"""
_CLASS = """
import torch

class Mixer(torch.nn.Module):
    def __init__(self, width, depth, dropout, heads):
        super().__init__()
        self.body = torch.nn.ModuleList([torch.nn.Linear(width, width) for _ in range(depth)])
        self.dropout, self.heads = dropout, heads

def build(args):
    depth, heads, dropout = args.depth, args.heads, args.dropout
    return Mixer(args.width, depth, dropout, heads)

def fit(model, loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
"""
_TWICE = """
import torch

def contrast(z_one, z_other, temperature):
    return (z_one @ z_other.T / temperature).logsumexp(1).mean()

def loss_of(mixed, plain, temperature):
    return contrast(mixed, plain, temperature) + contrast(plain, mixed, temperature)

def step(model, x, optimizer):
    loss_of(model(x), model(x), 0.1).backward()
    optimizer.step()
"""
SILENT = {
    "hashing": _HASHING,
    "a class": _CLASS,
    "both ways": _TWICE,
    "by names": mutant(_HASHING, ("2 * opt.bits, opt.alpha)", "alpha=opt.alpha, m=2 * opt.bits)")),
    "starred": mutant(_CLASS, ("Mixer(args.width, depth, dropout, heads)", "Mixer(*[args.width, depth, heads, dropout])")),
    "another function of that name": mutant(_HASHING, ("from losses import hashing_loss", "from library import hashing_loss"), ("2 * opt.bits, opt.alpha)", "2 * opt.bits, opt.alpha)")),
}  # fmt: skip
FAILS = {
    "one is told": mutant(_HASHING, ("2 * opt.bits, opt.alpha)", "opt.alpha, 2 * opt.bits)")),
    "in another file": mutant(_HASHING, ("hashing_loss(net(img), cls, m, alpha)", "hashing_loss(net(img), cls, alpha, 3 * m)")),
    "of a class": mutant(_CLASS, ("Mixer(args.width, depth, dropout, heads)", "Mixer(args.width, depth, heads, dropout)")),
    "of settings": mutant(_CLASS, ("Mixer(args.width, depth, dropout, heads)", "Mixer(args.depth, args.width, dropout, heads)"), ("def __init__(self, width, depth", "def __init__(self, breadth, depth"), ("Linear(width, width)", "Linear(breadth, breadth)"), ("Mixer(args.depth, args.width", "Mixer(args.depth, 2 * args.breadth") ),
    "three": mutant(_CLASS, ("Mixer(args.width, depth, dropout, heads)", "Mixer(args.width, args.heads, args.dropout, args.depth)")),
}  # fmt: skip

SILENT["both orders in one statement"] = """
import torch

def infonce(image_emb, text_emb, temperature):
    return (image_emb @ text_emb.T / temperature).log_softmax(1).diagonal().mean()

def step(model, batch, temperature, optimizer):
    image_emb, text_emb = model(batch)
    loss = -infonce(image_emb, text_emb, temperature) - infonce(text_emb, image_emb, temperature)
    loss.backward()
    optimizer.step()
"""
SILENT["down and up again"] = """
import torch

class TwoLayer(torch.nn.Module):
    def __init__(self, data_dim, latent_dim):
        super().__init__()
        self.body = torch.nn.Linear(data_dim, latent_dim)

class Coder(torch.nn.Module):
    def __init__(self, data_dim, latent_dim):
        super().__init__()
        self.encoder = TwoLayer(data_dim, latent_dim)
        self.decoder = TwoLayer(latent_dim, data_dim)

def fit(model, loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
"""

_PARTS = """
import torch
from learning import train, make

def main(args, model, optimizer):
    tr_dataloader, val_dataloader, test_dataloader = make(args)
    best = train(
        args=args,
        tr_dataloader=tr_dataloader,
        model=model,
        optimizer=optimizer,
        val_dataloader=val_dataloader,
    )
    return best, test_dataloader
"""
SILENT["parts"] = _PARTS
SILENT["no other part"] = """
import torch
from learning import train, make

def main(args, model, optimizer):
    train_loader = make(args)
    return train(args=args, model=model, train_loader=train_loader, val_loader=train_loader)
"""
FAILS["the training part twice"] = mutant(_PARTS, ("val_dataloader=val_dataloader", "val_dataloader=tr_dataloader"))
