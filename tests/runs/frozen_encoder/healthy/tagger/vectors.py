"""Word vectors come ready-made and stay as they are."""

import torch


def pretrained_vectors(words, dim, seed=5):
    return torch.randn(words, dim, generator=torch.Generator().manual_seed(seed))


def use_fixed_vectors(encoder, table):
    with torch.no_grad():
        encoder.vectors.weight.copy_(table)
        encoder.vectors.weight[encoder.vectors.padding_idx].zero_()
    for parameter in encoder.vectors.parameters():
        parameter.requires_grad = False
