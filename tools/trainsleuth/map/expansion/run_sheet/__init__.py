"""The run on one sheet: what is asked of every run, with values and places."""
