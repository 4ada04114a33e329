import torch
from torch import nn
from torch.utils.data import DataLoader

from .dataset import Reviews, pad_batch
from .model import ReviewModel

EPOCHS, BATCH, LR, WORKERS = 2, 32, 1e-2, 2


def accuracy(model, loader):
    model.eval()
    with torch.no_grad():
        hits = [(model(words).argmax(-1) == stars).float() for words, stars in loader]
    model.train()
    return torch.cat(hits).mean().item()


def main():
    torch.manual_seed(9)
    train_set = Reviews(1280, seed=31, silent_share=0.002)
    train_loader = DataLoader(train_set, BATCH, shuffle=True, collate_fn=pad_batch, num_workers=WORKERS)
    test_loader = DataLoader(Reviews(400, seed=32), 200, collate_fn=pad_batch)
    model = ReviewModel()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adamax(model.parameters(), lr=LR)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.3, total_iters=EPOCHS * len(train_loader))
    for epoch in range(EPOCHS):
        for step, (words, stars) in enumerate(train_loader):
            loss = criterion(model(words), stars)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            if step % 8 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}")
        print(f"epoch {epoch} loss {loss.item():.4f} test accuracy {accuracy(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
