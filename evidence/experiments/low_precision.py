"""Sixteen bits: small increments vanish in a sum, and fp16 overflows where bf16 does not."""

import torch

CLAIMS = {
    "low-precision-accumulate": "1.0 plus 1,000 times 1e-3 gives {bf16_sum:.1f} in bf16 and {fp32_sum:.1f} in fp32; "
    "1.0 plus 1,000 times 1e-4 gives {fp16_sum:.1f} in fp16",
    "fp16-vs-bf16": "300 times 300 is {fp16_product} in fp16 and {bf16_product:.0f} in bf16; 1e-8 is {fp16_small:.0f} in fp16 and "
    "{bf16_small:.1e} in bf16; 1.001 keeps {fp16_digit:.4f} and {bf16_digit:.4f}",
    "scale-before-matmul": "scores of 512 dimensions with entries of 12: {late:.0%} infinite in fp16 when scaled after the "
    "product, {early:.0%} when before",
}
SEEDS = 1
EXPECT = {
    "bf16 does not move": lambda m: m["bf16_sum"] == 1,
    "fp16 does not move": lambda m: m["fp16_sum"] == 1,
    "fp16 overflows, bf16 does not": lambda m: m["fp16_product"] == float("inf") and m["bf16_product"] < 1e5,
    "fp16 underflows, bf16 does not": lambda m: m["fp16_small"] == 0 < m["bf16_small"],
    "bf16 has fewer digits": lambda m: m["bf16_digit"] == 1 < m["fp16_digit"],
    "scaling first avoids the overflow": lambda m: m["early"] == 0 < m["late"],
}


def summed(increment, dtype):
    total = torch.tensor(1.0, dtype=dtype)
    for _ in range(1000):
        total = total + torch.tensor(increment, dtype=dtype)
    return total.item()


def measure(seed):
    product = torch.tensor(300.0)
    query = torch.full((4, 512), 12.0, dtype=torch.float16)
    return {
        "bf16_sum": summed(1e-3, torch.bfloat16),
        "fp32_sum": summed(1e-3, torch.float32),
        "fp16_sum": summed(1e-4, torch.float16),
        "fp16_product": (product.half() * product.half()).item(),
        "bf16_product": (product.bfloat16() * product.bfloat16()).item(),
        "fp16_small": torch.tensor(1e-8).half().item(),
        "bf16_small": torch.tensor(1e-8).bfloat16().item(),
        "fp16_digit": torch.tensor(1.001).half().item(),
        "bf16_digit": torch.tensor(1.001).bfloat16().item(),
        "late": ((query @ query.T) / 512**0.5).isinf().float().mean().item(),
        "early": ((query / 512**0.25) @ (query / 512**0.25).T).isinf().float().mean().item(),
    }
