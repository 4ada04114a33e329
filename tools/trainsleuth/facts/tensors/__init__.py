"""What tensors hold: ranges, axes, gradients, layers, losses."""
