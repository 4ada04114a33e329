"""The forms in which settings are written: options, classes, tables, functions, files in Python."""
