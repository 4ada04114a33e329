"""Whether a place runs at all: what programs come to, and what stops them before."""
