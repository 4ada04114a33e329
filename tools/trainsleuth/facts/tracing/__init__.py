"""Where a value comes from and goes to: assignments, calls, attributes, collections."""
