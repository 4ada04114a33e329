"""Places with their whole statements, bodies, conditions and values."""
