import json
from pathlib import Path

import torch

import nets  # noqa: F401  registers the models
from registry import build_criterion, build_model, build_optimizer
from scenes import make_split


def mean_iou(model, images, masks, classes):
    model.eval()
    with torch.no_grad():
        guess = model(images).argmax(dim=1)
    model.train()
    scores = []
    for label in range(classes):
        both = ((guess == label) & (masks == label)).sum()
        either = ((guess == label) | (masks == label)).sum().clamp(min=1)
        scores.append((both / either).item())
    return sum(scores) / classes


def endless_batches(images, masks, batch_size):
    while True:
        order = torch.randperm(len(images))
        for chosen in order.split(batch_size):
            if len(chosen) == batch_size:
                yield images[chosen], masks[chosen]


def main():
    config = json.loads(Path(__file__).with_name("config.json").read_text())
    torch.manual_seed(config["seed"])
    train_images, train_masks = make_split(240, config["image_size"], seed=10)
    val_images, val_masks = make_split(48, config["image_size"], seed=11)

    model = build_model(config)
    criterion = build_criterion(config)
    optimizer = build_optimizer(config, model.parameters())

    batches = endless_batches(train_images, train_masks, config["batch_size"])
    for step in range(config["steps"]):
        image, mask = next(batches)
        loss = criterion(model(image), mask)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 10 == 0:
            print(f"[{step:03d}] loss={loss.item():.4f}")
        if (step + 1) % config["validate_every"] == 0:
            iou = mean_iou(model, val_images, val_masks, config["classes"])
            print(f"[{step:03d}] val_miou={iou:.4f}")


if __name__ == "__main__":
    main()
