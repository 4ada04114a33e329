"""Which programs a repository has, what they load, and what of it runs."""
