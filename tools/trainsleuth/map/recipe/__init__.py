"""What a recipe sets, where it is composed of, and what its settings choose."""
