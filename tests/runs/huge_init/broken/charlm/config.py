"""Defaults; any of them can be changed with --name=value."""

import ast
import sys

steps = 60
accumulate = 2
batch_size = 12
context = 48
dim = 64
heads = 4
layers = 2
dropout = 0.05
lr = 3e-3
warmup = 8
weight_decay = 0.1
grad_clip = 1.0
eval_every = 20
eval_batches = 4
seed = 1337

for _argument in sys.argv[1:]:
    _key, _, _value = _argument.removeprefix("--").partition("=")
    if _key not in globals():
        raise SystemExit(f"unknown setting {_key}")
    globals()[_key] = ast.literal_eval(_value)
