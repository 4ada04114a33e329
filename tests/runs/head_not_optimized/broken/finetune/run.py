"""python -m finetune.run: pretrain on one task, adapt to another with low-rank adapters."""

import argparse

import torch

from .corpus import TOPICS, source_task, target_task
from .encoder import SentenceClassifier
from .lora import add_adapters, trainable
from .loop import accuracy, fit


def pretrained(steps):
    model = SentenceClassifier(classes=4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    fit(model, optimizer, source_task(2000, seed=1), steps, name="pretrain")
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pretrain-steps", type=int, default=40)
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--rank", type=int, default=2)
    parser.add_argument("--lr", type=float, default=1e-2)
    args = parser.parse_args()

    torch.manual_seed(0)
    model = add_adapters(pretrained(args.pretrain_steps), args.rank)
    optimizer = torch.optim.AdamW(trainable(model), lr=args.lr, weight_decay=0.0)  # cause
    model.reset_head(TOPICS)  # cause
    fit(model, optimizer, target_task(2000, seed=2), args.steps, name="adapt")
    print(f"target accuracy {accuracy(model, target_task(500, seed=3)):.3f}")


if __name__ == "__main__":
    main()
