"""trainsleuth: find why a neural network trains silently wrong."""

__version__ = "0.1.0"
