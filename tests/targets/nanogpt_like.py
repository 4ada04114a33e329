"""A GPT trained by one flat script. Settings are globals; overrides are exec'd into them."""

import math
import os
from contextlib import nullcontext

import torch
import torch.nn as nn
from torch.nn import functional as F

# settings
out_dir = "out-tiny"
eval_interval = 15
eval_iters = 3
always_save_checkpoint = False
gradient_accumulation_steps = 4
batch_size = 6
block_size = 32
vocab_size = 50
n_layer = 2
n_head = 2
n_embd = 48
dropout = 0.1
learning_rate = 4e-3
max_iters = 45
weight_decay = 1e-1
beta1 = 0.9
beta2 = 0.95
grad_clip = 1.0
decay_lr = True
warmup_iters = 6
lr_decay_iters = 45
min_lr = 4e-4
dtype = "float32"
compile = False
seed = 1337
exec(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "nanogpt_overrides.py")).read())

torch.manual_seed(seed)
device_type = "cpu"
ctx = nullcontext() if dtype == "float32" else torch.amp.autocast(device_type, dtype=getattr(torch, dtype))


# a Markov chain in place of a tokenised corpus, flat like a memory-mapped file
def make_stream(length, rng):
    following = torch.randint(vocab_size, (vocab_size, 3), generator=rng)
    pick = torch.randint(3, (length,), generator=rng).tolist()
    table, token, stream = following.tolist(), 0, []
    for choice in pick:
        token = table[token][choice]
        stream.append(token)
    return torch.tensor(stream, dtype=torch.int32)


stream = make_stream(24_000, torch.Generator().manual_seed(0))
data = {"train": stream[:20_000], "val": stream[20_000:]}


def get_batch(split):
    source = data[split]
    ix = torch.randint(len(source) - block_size, (batch_size,))
    x = torch.stack([source[i : i + block_size].long() for i in ix])
    y = torch.stack([source[i + 1 : i + 1 + block_size].long() for i in ix])
    return x, y


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1 = nn.LayerNorm(n_embd)
        self.attn_in = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.attn_out = nn.Linear(n_embd, n_embd, bias=False)
        self.ln_2 = nn.LayerNorm(n_embd)
        self.mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd))
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, n_head, -1).transpose(1, 2) for t in self.attn_in(self.ln_1(x)).split(C, dim=2))
        p = dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=p, is_causal=True)
        x = x + self.drop(self.attn_out(y.transpose(1, 2).reshape(B, T, C)))
        return x + self.drop(self.mlp(self.ln_2(x)))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, n_embd)
        self.wpe = nn.Embedding(block_size, n_embd)
        self.drop = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(Block() for _ in range(n_layer))
        self.ln_f = nn.LayerNorm(n_embd)
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)
        self.lm_head.weight = self.wte.weight
        for p in self.parameters():
            if p.dim() >= 2:
                nn.init.normal_(p, std=0.02)

    def forward(self, idx, targets=None):
        x = self.drop(self.wte(idx) + self.wpe(torch.arange(idx.shape[1])))
        for block in self.blocks:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        loss = None if targets is None else F.cross_entropy(logits.view(-1, vocab_size), targets.view(-1))
        return logits, loss


@torch.no_grad()
def estimate_loss():
    out = {}
    model.eval()
    for split in ("train", "val"):
        losses = torch.zeros(eval_iters)
        for k in range(eval_iters):
            _, losses[k] = model(*get_batch(split))
        out[split] = losses.mean().item()
    model.train()
    return out


def get_lr(it):
    if it < warmup_iters:
        return learning_rate * (it + 1) / (warmup_iters + 1)
    if it > lr_decay_iters:
        return min_lr
    ratio = (it - warmup_iters) / (lr_decay_iters - warmup_iters)
    return min_lr + 0.5 * (1 + math.cos(math.pi * ratio)) * (learning_rate - min_lr)


model = GPT()
decay = [p for p in model.parameters() if p.dim() >= 2]
rest = [p for p in model.parameters() if p.dim() < 2]
groups = [{"params": decay, "weight_decay": weight_decay}, {"params": rest, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=learning_rate, betas=(beta1, beta2))
scaler = torch.amp.GradScaler("cpu", enabled=(dtype == "float16"))
if compile:
    model = torch.compile(model)

X, Y = get_batch("train")
best_val_loss = 1e9
for iter_num in range(max_iters + 1):
    lr = get_lr(iter_num) if decay_lr else learning_rate
    for group in optimizer.param_groups:
        group["lr"] = lr

    if iter_num % eval_interval == 0:
        losses = estimate_loss()
        print(f"step {iter_num}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}")
        if losses["val"] < best_val_loss or always_save_checkpoint:
            best_val_loss = losses["val"]
            if iter_num > 0:
                os.makedirs(out_dir, exist_ok=True)
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "iter_num": iter_num}
                torch.save(state, os.path.join(out_dir, "ckpt.pt"))

    for micro_step in range(gradient_accumulation_steps):
        with ctx:
            logits, loss = model(X, Y)
            loss = loss / gradient_accumulation_steps
        # the next batch is fetched while the current one is still in use
        X, Y = get_batch("train")
        scaler.scale(loss).backward()
    if grad_clip != 0.0:
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    if iter_num % 5 == 0:
        print(f"iter {iter_num}: loss {loss.item() * gradient_accumulation_steps:.4f}, lr {lr:.2e}")
