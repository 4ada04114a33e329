from torch.nn import functional as F


def negative_elbo(logits, pictures, mean, log_variance, beta=1.0):
    """Mean over the batch of reconstruction and divergence, in nats per picture; also both alone."""
    reconstruction = F.binary_cross_entropy_with_logits(logits, pictures, reduction="none").sum(dim=1)
    divergence = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(dim=1)
    total = reconstruction + beta * divergence
    return total.mean(), reconstruction.mean(), divergence.mean()
