"""With the normalisation inside the branch the last layer's gradient shrinks with depth; behind the sum it does not."""

import torch
from torch import nn

CLAIMS = {
    "warmup-post-ln": "gradient norm of the last feed-forward layer at initialisation, 24 layers over 2: {post:.2f} with the norm "
    "behind the sum, {pre:.2f} with it inside the branch",
    "norm-inside-residual": "24 layers: gradient norm of the last layer {post_last:.2f} behind the sum, {pre_last:.2f} inside",
}
EXPECT = {
    "behind the sum it does not shrink": lambda m: m["post"] > 1,
    "inside it shrinks": lambda m: m["pre"] < 0.75 and m["pre"] < m["post"],
    "in deep networks it is smaller inside": lambda m: m["pre_last"] < m["post_last"],
}


def last_layer(seed, norm_first, depth):
    """Gradient norm of the last layer's output weights, layers of width 64 with Xavier weights."""
    torch.manual_seed(seed)
    layers = [
        nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, norm_first=norm_first, batch_first=True)
        for _ in range(depth)
    ]
    end = nn.LayerNorm(64) if norm_first else nn.Identity()
    head, x = nn.Linear(64, 100), torch.randn(16, 16, 64)
    for part in [*layers, head]:
        for weight in part.parameters():
            if weight.dim() > 1:
                nn.init.xavier_uniform_(weight)
    for layer in layers:
        x = layer(x)
    nn.functional.cross_entropy(head(end(x)).flatten(0, 1), torch.randint(100, (256,))).backward()
    return layers[-1].linear2.weight.grad.norm().item()


def measure(seed):
    post, pre = ({depth: last_layer(seed, first, depth) for depth in (2, 24)} for first in (False, True))
    return {"post": post[24] / post[2], "pre": pre[24] / pre[2], "post_last": post[24], "pre_last": pre[24]}
