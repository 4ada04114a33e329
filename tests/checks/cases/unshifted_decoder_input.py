"""Programs for unshifted-decoder-input: must be found in FAILS, and not in SILENT."""

from . import mutants

LM = """
# file: lm.py
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.attention = nn.MultiheadAttention(d, 4, batch_first=True)

    def forward(self, x):
        hidden = torch.triu(torch.ones(x.size(1), x.size(1), dtype=torch.bool), 1)
        return x + self.attention(x, x, x, attn_mask=hidden)[0]

class LM(nn.Module):
    def __init__(self, v, d):
        super().__init__()
        self.embed, self.head = nn.Embedding(v, d), nn.Linear(d, v)
        self.blocks = nn.ModuleList([Block(d) for _ in range(2)])

    def forward(self, tokens):
        x = self.embed(tokens)
        x = nn.Sequential(*self.blocks)(x)
        return self.head(x)
"""
S2S = """
# file: s2s.py
from torch import nn

class Seq2Seq(nn.Module):
    def __init__(self, v, d):
        super().__init__()
        self.a, self.b, self.out = nn.Embedding(v, d), nn.Embedding(v, d), nn.Linear(d, v)
        layer = nn.TransformerDecoderLayer(d, 4, batch_first=True)
        self.decoder = nn.TransformerDecoder(layer, 2)

    def forward(self, src, trg):
        mask = nn.Transformer.generate_square_subsequent_mask(trg.shape[1])
        return self.out(self.decoder(self.b(trg), self.a(src), tgt_mask=mask))
"""
FAILS, ORIGINALS = mutants(
    {
        "language model in a loop": (
            LM
            + """
# file: train.py
import torch.nn.functional as F
from lm import LM

def train(loader, opt):
    model = LM(100, 32)
    for batch in loader:
        tokens = batch["ids"]
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, 100), tokens[:, 1:].reshape(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
            "model(tokens[:, :-1])",
            "model(tokens)",
            "tokens[:, 1:].reshape(-1)",
            "tokens.reshape(-1)",
        ),
        "translation in a trainer": (
            S2S
            + """
# file: trainer.py
from torch import nn
from s2s import Seq2Seq

class Trainer:
    def __init__(self):
        self.model = Seq2Seq(80, 16)
        self.criterion = nn.CrossEntropyLoss(ignore_index=1)

    def step(self, src, trg):
        output = self.model(src, trg[:, :-1])
        return self.criterion(output.contiguous().view(-1, 80), trg[:, 1:].contiguous().view(-1))
""",
            "self.model(src, trg[:, :-1])",
            "self.model(src, trg)",
            "trg[:, 1:].contiguous()",
            "trg.contiguous()",
        ),
        "loss in a helper of another file": (
            S2S
            + """
# file: losses.py
import torch.nn.functional as F

def token_loss(logits, labels):
    return F.cross_entropy(logits.transpose(1, 2), labels)
# file: main.py
from losses import token_loss
from s2s import Seq2Seq

net = Seq2Seq(10, 8)

def step(src, trg, opt):
    loss = token_loss(net(src, trg=trg[:, :-1]), trg[:, 1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            "net(src, trg=trg[:, :-1]), trg[:, 1:]",
            "net(src, trg=trg), trg",
        ),
        "lightning": (
            LM
            + """
# file: lit.py
import lightning as L
import torch.nn.functional as F
from lm import LM

class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.lm = LM(50, 16)

    def training_step(self, batch, i):
        x, y = batch[:, :-1], batch[:, 1:]
        return F.cross_entropy(self.lm(x).flatten(0, 1), y.flatten())
""",
            "x, y = batch[:, :-1], batch[:, 1:]",
            "x, y = batch, batch",
        ),
        "closure with labels cloned": (
            LM
            + """
# file: make.py
from torch import nn
from lm import LM

def make(opt, v):
    lm, loss_fn = LM(v, 32), nn.CrossEntropyLoss()

    def step(tokens):
        labels = tokens.clone()
        logits = lm(tokens)
        loss = loss_fn(logits[:, :-1].reshape(-1, v), labels[:, 1:].reshape(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
    return step
""",
            "logits[:, :-1].reshape",
            "logits.reshape",
            "labels[:, 1:].reshape",
            "labels.reshape",
        ),
    }
)
SILENT = ORIGINALS | {
    "autoencoder": """
import torch.nn.functional as F
from torch import nn

class Auto(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.d = nn.Embedding(9, 4), nn.Linear(4, 9)

    def forward(self, x):
        return self.d(self.e(x))

auto = Auto()

def step(x):
    return F.cross_entropy(auto(x).flatten(0, 1), x.flatten())
""",
    "step by step": """
import torch.nn.functional as F
from torch import nn

class Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.e, self.o = nn.GRUCell(4, 4), nn.Embedding(9, 4), nn.Linear(4, 9)

    def forward(self, src, trg):
        token, outs = trg[0], []
        for t in range(1, len(trg)):
            outs.append(self.o(self.cell(self.e(token))))
            token = trg[t]
        return outs

seq = Seq()

def step(src, trg):
    return F.cross_entropy(seq(src, trg), trg)
""",
    "library model": """
import torch.nn.functional as F

def step(model, ids):
    return F.cross_entropy(model(ids).logits.flatten(0, 1), ids.flatten())
""",
    "masked language model": """
import torch.nn.functional as F
from lm import Encoder

def step(model, x, chosen):
    labels = x.clone()
    x[chosen] = 103
    return F.cross_entropy(model(x).transpose(1, 2), labels)
""",
    "labels of their own": """
import torch.nn.functional as F

def step(model, x, y):
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten())
""",
    "classifier": """
import torch.nn.functional as F

def step(model, tokens, label):
    return F.cross_entropy(model(tokens), label)
""",
    "shift inside": LM.replace("x = self.embed(tokens)", "x = self.embed(shift_right(tokens))")
    + """
# file: train.py
import torch.nn.functional as F
from lm import LM

model = LM(10, 8)

def step(tokens):
    return F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
""",
    "labels for a loss of its own": """
import torch
import torch.nn.functional as F
from torch import nn

class GPT(nn.Module):
    def __init__(self, v, d):
        super().__init__()
        self.embed, self.head = nn.Embedding(v, d), nn.Linear(d, v)
        self.attention = nn.MultiheadAttention(d, 4, batch_first=True)

    def forward(self, tokens, targets=None):
        hidden = torch.triu(torch.ones(tokens.size(1), tokens.size(1), dtype=torch.bool), 1)
        x = self.embed(tokens)
        logits = self.head(self.attention(x, x, x, attn_mask=hidden)[0])
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
        return logits, loss

model = GPT(100, 8)

def step(x, y, opt):
    logits, _ = model(x, y)
    loss = F.cross_entropy(logits.view(-1, 100), y.view(-1), label_smoothing=0.1)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "another method shifts": """
import torch
import torch.nn.functional as F
from torch import nn

class S2S(nn.Module):
    def __init__(self, v, d):
        super().__init__()
        self.a, self.b, self.out = nn.Embedding(v, d), nn.Embedding(v, d), nn.Linear(d, v)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(d, 4, batch_first=True), 2)

    def decode(self, trg, memory):
        given = F.pad(trg, (1, 0))[:, :-1]
        mask = nn.Transformer.generate_square_subsequent_mask(given.shape[1])
        return self.out(self.decoder(self.b(given), memory, tgt_mask=mask))

    def forward(self, src, trg):
        return self.decode(trg, self.a(src))

model = S2S(10, 8)

def step(src, trg):
    return F.cross_entropy(model(src, trg).transpose(1, 2), trg)
""",
    "a transformer that hides nothing": """
import torch
import torch.nn.functional as F
from torch import nn

class Transformer(nn.Module):
    def __init__(self, d, depth):
        super().__init__()
        self.layers = nn.ModuleList([nn.TransformerEncoderLayer(d, 2) for _ in range(depth)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

class Auto(nn.Module):
    def __init__(self, v, d):
        super().__init__()
        self.e, self.down, self.up, self.o = nn.Embedding(v, d), nn.Linear(d, 2), nn.Linear(2, d), nn.Linear(d, v)
        self.body = Transformer(d, 2)

    def forward(self, x):
        return self.o(self.up(self.down(self.body(self.e(x)))))

auto = Auto(9, 4)

def step(x):
    return F.cross_entropy(auto(x).flatten(0, 1), x.flatten())
""",
    "no position sees itself": """
import torch
import torch.nn.functional as F
from torch import nn

class Made(nn.Module):
    def __init__(self, v, n):
        super().__init__()
        self.e, self.w = nn.Embedding(v, v), nn.Parameter(torch.randn(n, n))
        self.register_buffer("mask", torch.tril(torch.ones(n, n), diagonal=-1))

    def forward(self, x):
        return torch.einsum("ij,bjv->biv", self.w * self.mask, self.e(x))

made = Made(9, 4)

def step(x):
    return F.cross_entropy(made(x).flatten(0, 1), x.flatten())
""",
    "labels of neighbours, some of them hidden": """
import torch
import torch.nn.functional as F
from torch import nn

class Dot(nn.Module):
    def __init__(self, d, c):
        super().__init__()
        self.e, self.o = nn.Embedding(c + 1, d), nn.Linear(d, c)
        self.c = c

    def forward(self, x, y):
        hide = torch.rand(y.shape) < 0.5
        known = self.e(y.masked_fill(hide, self.c))
        pairs = torch.tril(x @ x.transpose(0, 1))
        return self.o(x + pairs @ known)

dot = Dot(4, 3)

def step(x, y):
    return F.cross_entropy(dot(x, y), y)
""",
    "labels for a margin": """
import torch
import torch.nn.functional as F
from torch import nn

class Encoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.attention = nn.MultiheadAttention(d, 2, batch_first=True)

    def forward(self, x):
        hidden = torch.triu(torch.ones(x.size(1), x.size(1), dtype=torch.bool), 1)
        return self.attention(x, x, x, attn_mask=hidden)[0].mean(1)

class ArcFace(nn.Module):
    def __init__(self, d, c):
        super().__init__()
        self.encoder, self.weight, self.c = Encoder(d), nn.Parameter(torch.randn(c, d)), c

    def forward(self, x, label):
        cosine = F.linear(F.normalize(self.encoder(x)), F.normalize(self.weight))
        one_hot = F.one_hot(label, self.c)
        return 30 * (cosine - 0.2 * one_hot)

net = ArcFace(4, 3)

def step(x, label):
    return F.cross_entropy(net(x, label), label)
""",
    "targets hidden in part before they are embedded": """
import torch
import torch.nn.functional as F
from torch import nn

class Decoder(nn.Module):
    def __init__(self, v, d):
        super().__init__()
        self.v, self.e, self.o = v, nn.Embedding(v + 1, d), nn.Linear(d, v)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(d, 2, batch_first=True), 2)

    def forward(self, memory, trg):
        trg = trg.masked_fill(torch.rand(trg.shape) < 0.3, self.v)
        return self.o(self.decoder(self.e(trg), memory))

decoder = Decoder(9, 4)

def step(memory, trg):
    return F.cross_entropy(decoder(memory, trg).transpose(1, 2), trg)
""",
}
