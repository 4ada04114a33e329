"""Signs by which the places of a component are found."""
