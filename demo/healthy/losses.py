from torch.nn import functional as F


def next_letter_loss(predicted, following):
    """Mean cross-entropy in nats per letter.

    predicted: (B, T, alphabet); following: (B, T), the letter after each position.
    """
    return F.cross_entropy(predicted.flatten(0, 1), following.flatten())
