"""What happens to optimizers, gradients and modes, and in which order."""
