"""Who calls whom, and what a name may hold."""
