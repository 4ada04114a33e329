import torch

from losses import next_letter_loss


@torch.no_grad()
def evaluate(model, data, part, batches, batch_size):
    """Mean loss and share of letters guessed right over a few random batches."""
    was_training = model.training
    model.eval()
    losses, hits = [], []
    for _ in range(batches):
        letters, following = data.batch(part, batch_size)
        predicted = model(letters)
        losses.append(next_letter_loss(predicted, following))
        hits.append((predicted.argmax(dim=-1) == following).float().mean())
    model.train(was_training)
    return torch.stack(losses).mean().item(), torch.stack(hits).mean().item()
