"""How a program trains: its step, its loops, the framework that may hold them, what its networks are."""
