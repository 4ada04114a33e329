"""How the programs of a repository are started: commands, scripts, launchers, and what they hand on."""
