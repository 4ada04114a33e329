"""The map as text within a budget, and as a diagram."""
