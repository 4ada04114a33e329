"""python -m package.train, from the folder above."""
