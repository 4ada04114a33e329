"""Whether a setting, or the file that reads it, is used by the run."""
