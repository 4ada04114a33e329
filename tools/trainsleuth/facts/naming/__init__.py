"""What a name means: across files, modules, classes, libraries."""
