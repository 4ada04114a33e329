"""Train a small character GPT on the first chapters of Alice: python train.py [--steps 200 ...]"""

from dataclasses import asdict
from pathlib import Path

import torch

from config import from_command_line
from data import Letters
from losses import next_letter_loss
from metrics import evaluate
from model import CharGPT
from optim import build_optimizer, build_schedule

TEXT = Path(__file__).resolve().parent.parent / "text.txt"


def save(model, config, step):
    path = Path(config.checkpoint)
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"model": model.state_dict(), "config": asdict(config), "step": step}, path)


def main():
    config = from_command_line()
    torch.manual_seed(config.seed)
    data = Letters(TEXT, config.context)
    model = CharGPT(config, len(data.alphabet))
    optimizer = build_optimizer(model, config)
    schedule = build_schedule(optimizer, config)
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(data.alphabet)} letters")

    model.train()
    for step in range(1, config.steps + 1):
        letters, following = data.batch("train", config.batch_size)
        loss = next_letter_loss(model(letters), following)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config.max_norm)
        optimizer.step()
        schedule.step()

        if step % config.log_every == 0 or step == 1:
            lr = schedule.get_last_lr()[0]
            print(f"step {step:4d}  loss {loss.item():.4f}  grad {norm.item():.2f}  lr {lr:.1e}", flush=True)
        if step % config.eval_every == 0:
            held_out, right = evaluate(model, data, "held out", config.eval_batches, config.batch_size)
            print(f"step {step:4d}  held out loss {held_out:.4f}  right {right:.1%}", flush=True)
            save(model, config, step)

    model.eval()
    opening = data.encode("Alice ").unsqueeze(0)
    print(data.decode(model.continue_text(opening, 120)[0]))


if __name__ == "__main__":
    main()
