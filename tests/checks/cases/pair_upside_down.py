"""Programs for pair-upside-down."""

from ._programs import mutant

_PPO = """
import torch

class Agent:
    def update(self, batch):
        for _ in range(self.epochs):
            log_probs, values, entropy = self.policy.evaluate(batch.states, batch.actions)
            ratios = torch.exp(log_probs - batch.old_log_probs.detach())
            advantages = batch.returns - values.detach()
            loss = -torch.min(ratios * advantages, torch.clamp(ratios, 0.8, 1.2) * advantages).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
"""
_METHOD = """
import torch

def surrogate(logp, logp_old, adv, ratio_clip):
    ratio = (logp - logp_old).exp()
    loss = -(torch.min(ratio * adv, ratio.clamp(1 - ratio_clip, 1 + ratio_clip) * adv)).mean()
    loss.backward()
    return loss
"""
_RANKING = """
import torch
import torch.nn.functional as F

def train(model, loader, optimizer):
    for user, pos, neg in loader:
        pos_scores, neg_scores = model(user, pos), model(user, neg)
        loss = -(pos_scores - neg_scores).sigmoid().log().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

def dpo(chosen_logps, rejected_logps, beta):
    return -F.logsigmoid(beta * (chosen_logps - rejected_logps)).mean()

def smooth(pos_item, neg_item):
    return F.softplus(neg_item - pos_item).mean()
"""
_TRIPLET = """
import torch
from torch import nn

criterion_triplet = nn.TripletMarginLoss(margin=1.0)

def step(net, anchor, positive, negative, optimizer):
    loss = criterion_triplet(net(anchor), net(positive), net(negative))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_MIXUP = """
import numpy as np
import torch

def train(model, loader, criterion, optimizer):
    for x, y in loader:
        lam = np.random.beta(1.0, 1.0)
        order = torch.randperm(len(x))
        mixed = lam * x + (1 - lam) * x[order]
        y_a, y_b = y, y[order]
        out = model(mixed)
        loss = lam * criterion(out, y_a) + (1 - lam) * criterion(out, y_b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
_FOCAL = """
import torch
import torch.nn.functional as F

class FocalLoss(torch.nn.Module):
    def __init__(self, gamma=2.0):
        super().__init__()
        self.gamma = gamma

    def forward(self, logits, target):
        ce = F.cross_entropy(logits, target, reduction="none")
        pt = torch.exp(-ce)
        return ((1 - pt) ** self.gamma * ce).mean()
"""
SILENT = {
    "ppo": _PPO,
    "a method": _METHOD,
    "rankings": _RANKING,
    "triplets": _TRIPLET,
    "mixup": _MIXUP,
    "focal": _FOCAL,
    "distances": mutant(_RANKING, ("F.softplus(neg_item - pos_item)", "F.softplus(pos_dist - neg_dist)"), ("pos_item, neg_item", "pos_dist, neg_dist")),
    "a divergence": mutant(_METHOD, ("    loss.backward()", "    kl = (logp_old - logp).mean()\n    print(kl, (logp_old.exp() * (logp_old - logp)).sum())\n    loss.backward()")),
    "maximised": mutant(_RANKING, ("loss = -(pos_scores - neg_scores).sigmoid().log().mean()", "loss = (neg_scores - pos_scores).sigmoid().mean()")),
}  # fmt: skip
FAILS = {
    "a ratio": mutant(_PPO, ("torch.exp(log_probs - batch.old_log_probs.detach())", "torch.exp(batch.old_log_probs.detach() - log_probs)")),
    "a ratio by a method": mutant(_METHOD, ("(logp - logp_old).exp()", "(logp_old - logp).exp()")),
    "a ranking": mutant(_RANKING, ("-(pos_scores - neg_scores).sigmoid()", "-(neg_scores - pos_scores).sigmoid()")),
    "a ranking by softplus": mutant(_RANKING, ("F.softplus(neg_item - pos_item)", "F.softplus(pos_item - neg_item)")),
    "a triplet": mutant(_TRIPLET, ("net(anchor), net(positive), net(negative)", "net(anchor), net(negative), net(positive)")),
    "mixed labels": mutant(_MIXUP, ("lam * criterion(out, y_a) + (1 - lam) * criterion(out, y_b)", "lam * criterion(out, y_b) + (1 - lam) * criterion(out, y_a)")),
    "a focus": mutant(_FOCAL, ("(1 - pt) ** self.gamma", "pt**self.gamma")),
}  # fmt: skip

SILENT["a binary focal loss"] = """
import torch

def focal(p, y, gamma, alpha):
    pos = -alpha * (1 - p) ** gamma * p.log() * y
    neg = -(1 - alpha) * p**gamma * (1 - p).log() * (1 - y)
    return (pos + neg).mean()
"""
SILENT["the ratio to a sampler"] = """
import torch

def correction(old_logps, sampling_logps, new_logps):
    weight = torch.exp(old_logps - sampling_logps).detach()
    estimate = torch.exp(old_logps - new_logps) - (old_logps - new_logps) - 1
    (weight * estimate).mean().backward()
"""

_FORWARD = """
import torch

def partition(features, masks, transitions):
    scores = features[:, 0]
    for t in range(1, features.shape[1]):
        mask_t = masks[:, t].unsqueeze(1)
        score_t = torch.logsumexp(scores.unsqueeze(1) + transitions + features[:, t].unsqueeze(2), 2)
        scores = score_t * mask_t + scores * (1 - mask_t)
    return torch.logsumexp(scores, 1)
"""
_AVERAGE = """
def update(average, value, decay):
    average = decay * average + (1 - decay) * value
    return average
"""
SILENT |= {"a blend": _FORWARD, "an average": _AVERAGE}
SILENT["two masked terms"] = """
def total(a, b, mask):
    loss = a * mask + b * mask
    return loss.sum() / mask.sum()
"""
FAILS["a blend"] = mutant(_FORWARD, ("scores * (1 - mask_t)", "scores * (mask_t)"))
FAILS["an average"] = mutant(_AVERAGE, ("(1 - decay) * value", "decay * value"))
