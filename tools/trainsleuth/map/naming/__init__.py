"""From a name to the class, function or module that it means: registries, tables, imports by a text."""
