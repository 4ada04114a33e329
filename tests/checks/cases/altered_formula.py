"""Programs for altered-formula."""

from ._programs import mutant

_VAE = """
import torch
from torch import nn

class VAE(nn.Module):
    def reparameterize(self, mu, log_var):
        std = torch.exp(0.5 * log_var)
        eps = torch.randn_like(std)
        return eps * std + mu

    def loss(self, recon, x, mu, log_var):
        kld = torch.mean(-0.5 * torch.sum(1 + log_var - mu ** 2 - log_var.exp(), dim=1), dim=0)
        return nn.functional.mse_loss(recon, x) + 0.1 * kld
"""
_HELPER = """
def kl(mean, log_var):
    return 0.5 * (mean.pow(2) + log_var.exp() - 1 - log_var).sum(-1).mean()

def train(loader, vae, opt):
    for x in loader:
        out, mean, log_var = vae(x)
        loss = (out - x).pow(2).mean() + kl(mean, log_var)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
_LADDER = """
import torch

def kl_of(mu_q, log_var_q, mu_p, log_var_p):
    kl = 0.5 * (log_var_p - log_var_q) + (log_var_q.exp() + (mu_q - mu_p) ** 2) / (2 * log_var_p.exp()) - 0.5
    return torch.sum(kl, dim=-1)
"""
_NORMAL_KL = """
import torch

def normal_kl(mean1, logvar1, mean2, logvar2):
    return 0.5 * (-1.0 + logvar2 - logvar1 + torch.exp(logvar1 - logvar2) + ((mean1 - mean2) ** 2) * torch.exp(-logvar2))
"""
_PPO = """
import torch

def update(self, batch, ratios, advantages):
    surr1 = ratios * advantages
    surr2 = torch.clamp(ratios, 1 - self.eps_clip, 1 + self.eps_clip) * advantages
    loss = -torch.min(surr1, surr2) + 0.5 * self.mse(batch.values, batch.returns)
    self.optimizer.zero_grad()
    loss.mean().backward()
    self.optimizer.step()
"""
_GAE = """
def advantages(rewards, values, masks, gamma, lam):
    out, gae = [], 0
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + gamma * values[t + 1] * masks[t] - values[t]
        gae = delta + gamma * lam * masks[t] * gae
        out.insert(0, gae + values[t])
    return out
"""
_DIFFUSION = """
import torch

class Diffusion:
    def __init__(self, betas):
        self.alphas_cumprod = torch.cumprod(1.0 - betas, dim=0)
        alphas_cumprod_prev = torch.cat([torch.ones(1), self.alphas_cumprod[:-1]])
        self.posterior_variance = betas * (1.0 - alphas_cumprod_prev) / (1.0 - self.alphas_cumprod)

    def q_sample(self, x_start, t, noise):
        a = self.alphas_cumprod[t].view(-1, 1, 1, 1)
        return a.sqrt() * x_start + (1 - a).sqrt() * noise

    def x_start(self, x_t, t, pred_noise):
        a = self.alphas_cumprod[t].view(-1, 1, 1, 1)
        return (x_t - torch.sqrt(1.0 - a) * pred_noise) / torch.sqrt(a)
"""
_SCHEDULES = """
import math

def cosine(step, total_steps, min_lr, base_lr):
    return min_lr + 0.5 * (base_lr - min_lr) * (1 + math.cos(math.pi * step / total_steps))

def noam(d_model, step, warmup_steps):
    return d_model ** -0.5 * min(step ** -0.5, step * warmup_steps ** -1.5)

def epsilon(eps_start, eps_end, steps_done, eps_decay):
    return eps_end + (eps_start - eps_end) * math.exp(-1.0 * steps_done / eps_decay)
"""
_OVERLAP = """
import torch
import torch.nn.functional as F

def dice_loss(pred, target, smooth=1.0):
    pred = pred.view(-1)
    target = target.view(-1)
    intersection = (pred * target).sum()
    return 1 - (2.0 * intersection + smooth) / (pred.sum() + target.sum() + smooth)

def iou(inter, area_a, area_b):
    return inter / (area_a + area_b - inter + 1e-7)

def contrastive(out1, out2, label, margin=2.0):
    distance = F.pairwise_distance(out1, out2)
    return torch.mean((1 - label) * torch.pow(distance, 2) + label * torch.pow(torch.clamp(margin - distance, min=0.0), 2))
"""
_SCALED = """
import numpy as np
import torch

class Scaler:
    def __init__(self, data):
        self.mean, self.std = data.mean(0), data.std(0)

    def transform(self, data):
        return (data - self.mean) / self.std

    def inverse_transform(self, data):
        return data * self.std + self.mean

def normalise(x):
    return (x - x.min()) / (x.max() - x.min() + 1e-8)

def to_sides(values, values_min, values_max):
    offset = (values_max + values_min) * 0.5
    scale = (values_max - values_min) * 0.5
    return (values - offset) / scale
"""
_ATTENTION = """
import math
import torch

def attend(query, key, value):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    return torch.matmul(scores.softmax(dim=-1), value)

def positions(max_len, d_model):
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    return torch.arange(max_len).unsqueeze(1) * div_term
"""
_STEPWISE = """
import torch

def features(feats, cmvn):
    feats = feats - cmvn["mean"]
    feats = feats / cmvn["std"]
    return torch.from_numpy(feats)

def hashing_loss(dist, y, m):
    loss = (1 - y) / 2 * dist + y / 2 * (m - dist).clamp(min=0)
    return loss.mean()

def gradient_penalty(gradients, lamda):
    return lamda * ((1 - (gradients + 1e-8).norm(2, dim=1)) ** 2).mean()

class Policy(torch.nn.Module):
    def __init__(self, space):
        super().__init__()
        self.register_buffer("action_scale", torch.tensor((space.high - space.low) / 2.0))
        self.register_buffer("action_bias", torch.tensor((space.high + space.low) / 2.0))

def conjugate_gradients(Avp, b, n):
    x, r, p = torch.zeros_like(b), b.clone(), b.clone()
    for _ in range(n):
        _Avp = Avp(p)
        alpha = torch.dot(r, r) / torch.dot(p, _Avp)
        x += alpha * p
        r = r - alpha * _Avp
    return x

def update_average(model, average, alpha, step):
    alpha = min(1 - 1 / (step + 1), alpha)
    for old, new in zip(average.parameters(), model.parameters()):
        old.data.mul_(alpha).add_(new.data, alpha=1 - alpha)
"""
_SCORES = """
import torch

def f1(precision, recall):
    return 2 * precision * recall / (precision + recall)

def psnr(pred, target):
    mse = torch.mean((pred - target) ** 2)
    return 20 * torch.log10(255.0 / torch.sqrt(mse))

def bce(probs, targets):
    return -(targets * torch.log(probs + 1e-8) + (1 - targets) * torch.log(1 - probs + 1e-8)).mean()
"""
SILENT = {
    "a variational autoencoder": _VAE,
    "a helper of a loop": _HELPER,
    "a ladder of them": _LADDER,
    "written another way": _NORMAL_KL,
    "a clipped policy": _PPO,
    "advantages": _GAE,
    "diffusion": _DIFFUSION,
    "schedules": _SCHEDULES,
    "overlap": _OVERLAP,
    "scaling": _SCALED,
    "attention": _ATTENTION,
    "step by step": _STEPWISE,
    "scores": _SCORES,
    "a name that says log of the deviation": """
import torch

def sample(mean, log_std):
    return mean + torch.randn_like(mean) * torch.exp(log_std)
""",
    "what is done with a formula is no part of it": """
import torch

def losses(inter, area_a, area_b, reward, gamma, next_value, done, value):
    iou = inter / (area_a + area_b - inter)
    td_error = reward + gamma * next_value * (1 - done) - value
    return 1 - iou, 0.5 * td_error ** 2, td_error.abs()
""",
    "another formula of the same things": """
import torch

def rectified(x_0, noise, t):
    return (1 - t) * x_0 + t * noise

def distances(x, mean, std):
    return (x - mean) / std, x - mean, mean - 2 * std
""",
    "a weight that rises along a cosine": """
import math
import torch

def weight(epoch, warmup_epochs, min_beta, max_beta):
    return min_beta + 0.5 * (max_beta - min_beta) * (1 - math.cos(math.pi * epoch / warmup_epochs))
""",
    "behind the step of a v-prediction": """
def clean(latents, model_output, alphas_cumprod, t):
    kept = alphas_cumprod[t]
    return kept ** 0.5 * latents - (1 - kept) ** 0.5 * model_output
""",
}
FAILS = {
    "a sign in the divergence": mutant(_VAE, ("- mu ** 2", "+ mu ** 2")),
    "the mean is not squared": mutant(_VAE, ("mu ** 2", "mu")),
    "one term of the divergence": mutant(_HELPER, ("- 1 - log_var", "- 1 + log_var")),
    "half of a term": mutant(_LADDER, ("0.5 * (log_var_p - log_var_q)", "(log_var_p - log_var_q)")),
    "the variances exchanged": mutant(_NORMAL_KL, ("logvar1 - logvar2)", "logvar2 - logvar1)")),
    "the greater of the two": mutant(_PPO, ("torch.min", "torch.max")),
    "the limits exchanged": mutant(
        _PPO, ("1 - self.eps_clip, 1 + self.eps_clip", "1 + self.eps_clip, 1 - self.eps_clip")
    ),
    "the value comes in twice": mutant(_GAE, ("- values[t]\n", "+ values[t]\n")),
    "a difference of advantages": mutant(_GAE, ("delta + gamma", "delta - gamma")),
    "no root over the noise": mutant(_DIFFUSION, ("(1 - a).sqrt() * noise", "(1 - a) * noise")),
    "the root of another": mutant(_DIFFUSION, ("(1 - a).sqrt() * noise", "a.sqrt() * noise")),
    "noise is added once more": mutant(_DIFFUSION, ("(x_t - torch", "(x_t + torch")),
    "a posterior of the other side": mutant(
        _DIFFUSION, ("/ (1.0 - self.alphas_cumprod)", "* (1.0 - self.alphas_cumprod)")
    ),
    "a rate that rises": mutant(_SCHEDULES, ("(1 + math.cos", "(1 - math.cos")),
    "a warm-up without end": mutant(_SCHEDULES, ("min(step", "max(step")),
    "exploration that grows": mutant(_SCHEDULES, ("math.exp(-1.0 *", "math.exp(1.0 *")),
    "a product of the sums": mutant(_OVERLAP, ("pred.sum() + target.sum()", "pred.sum() * target.sum()")),
    "the overlap is added": mutant(_OVERLAP, ("area_b - inter", "area_b + inter")),
    "the margin on the other side": mutant(_OVERLAP, ("margin - distance", "distance - margin")),
    "a mean that is added": mutant(_SCALED, ("(data - self.mean)", "(data + self.mean)")),
    "divided on the way back": mutant(_SCALED, ("data * self.std +", "data / self.std +")),
    "a sum for a range": mutant(_SCALED, ("x.max() - x.min()", "x.max() + x.min()")),
    "scores grow with the width": mutant(_ATTENTION, ("/ math.sqrt", "* math.sqrt")),
    "divided by the width": mutant(_ATTENTION, ("math.sqrt(d_k)", "d_k")),
    "waves that grow": mutant(_ATTENTION, ("(-math.log", "(math.log")),
    "multiplied with the deviation": mutant(_STEPWISE, ('/ cmvn["std"]', '* cmvn["std"]')),
    "one kind of pairs taken away": mutant(_STEPWISE, ("dist + y / 2", "dist - y / 2")),
    "a norm of the first order": mutant(_STEPWISE, ("norm(2", "norm(1")),
    "the middle for the half": mutant(_STEPWISE, ("(space.high - space.low)", "(space.high + space.low)")),
    "a residual that grows": mutant(_STEPWISE, ("r - alpha", "r + alpha")),
    "an average that begins at its end": mutant(_STEPWISE, ("min(1 - 1 /", "min(1 + 1 /")),
    "a product of the two": mutant(_SCORES, ("(precision + recall)", "(precision * recall)")),
    "the square for its root": mutant(_SCORES, ("torch.sqrt(mse)", "mse")),
    "the same chance twice": mutant(_SCORES, ("torch.log(1 - probs", "torch.log(probs")),
}
