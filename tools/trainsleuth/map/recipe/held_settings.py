"""What objects that hold the settings of a program are called: args, cfg, hparams, parameters."""

from __future__ import annotations

WORDS = (
    r"args?|arguments|cfgs?|conf|config\w*|flags?|hparams?|hps?|hp|hyper\w+|opts?|options?|param(?:eter)?s|settings?"
)
