"""One file of source, settings or cells as records, and the records as bytes."""
