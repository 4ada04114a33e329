"""Damped oscillator  u'' + 2 d w u' + w^2 u = 0,  u(0) = 1,  u'(0) = 0,  on t in [0, 1]."""

import math

import torch

OMEGA, DAMPING = 6.0, 0.15


def exact(t):
    low = OMEGA * math.sqrt(1 - DAMPING**2)
    decay = torch.exp(-DAMPING * OMEGA * t)
    return decay * (torch.cos(low * t) + DAMPING * OMEGA / low * torch.sin(low * t))


def slope(value, t):
    return torch.autograd.grad(value, t, torch.ones_like(value), create_graph=True)[0]


def equation_residual(net, t):
    t = t.requires_grad_(True)
    u = net(t)
    du = slope(u, t)
    ddu = slope(du, t)
    return ddu / OMEGA**2 + 2 * DAMPING * du / OMEGA + u


def start_residual(net):
    t = torch.zeros(1, 1, requires_grad=True)
    u = net(t)
    return torch.cat([u - 1.0, slope(u, t) / OMEGA])
