import torch


def train_one_epoch(model, criterion, loader, optimizer, scheduler, log_every=8):
    model.train()
    for step, (pictures, labels) in enumerate(loader):
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(pictures), labels)
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % log_every == 0:
            lr = scheduler.get_last_lr()[0]
            print(f"  step {step:3d}  loss {loss.item():.4f}  lr {lr:.5f}")


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits = seen = 0
    for pictures, labels in loader:
        hits += (model.predict(pictures) == labels).sum().item()
        seen += len(labels)
    return hits / seen
