import math

import torch
from reversing import PAD
from torch import nn

LONGEST = 16


class Translator(nn.Module):
    """(source (N, S), target so far (N, T)) -> logits (N, T, tokens); input and output share the embedding."""

    def __init__(self, tokens, width=48, heads=4):
        super().__init__()
        self.width = width
        self.embed = nn.Embedding(tokens, width, padding_idx=PAD)
        self.places = nn.Parameter(0.02 * torch.randn(LONGEST, width))
        self.core = nn.Transformer(
            width, heads, num_encoder_layers=2, num_decoder_layers=2, dim_feedforward=96, dropout=0.05, batch_first=True
        )
        self.head = nn.Linear(width, tokens, bias=False)
        nn.init.normal_(self.embed.weight, std=1 / math.sqrt(width))
        self.head.weight = self.embed.weight

    def placed(self, tokens):
        return self.embed(tokens) * math.sqrt(self.width) + self.places[: tokens.shape[1]]

    def forward(self, source, target):
        future = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1)
        states = self.core(
            self.placed(source),
            self.placed(target),
            tgt_mask=future,
            src_key_padding_mask=source == PAD,
            memory_key_padding_mask=source == PAD,
            tgt_key_padding_mask=target == PAD,
        )
        return self.head(states)
