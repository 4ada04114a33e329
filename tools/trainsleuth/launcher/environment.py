"""The environment of a probed command: our runtime in, compilers and trackers off, hubs offline."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trainsleuth.launcher.record import LaunchError

RUNTIME = Path(__file__).resolve().parent.parent / "runtime"
CONFIG = "TRAINSLEUTH_CONFIG"
CONFIG_BYTES = 120_000  # Linux refuses a single variable above 128 KiB

QUIET: Mapping[str, str] = {
    "TORCHDYNAMO_DISABLE": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
    "PYTHONFAULTHANDLER": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TQDM_MININTERVAL": "5",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "WANDB_MODE": "disabled",
    "WANDB_SILENT": "true",
    "COMET_MODE": "DISABLED",
    "COMET_START_ONLINE": "false",
    "NEPTUNE_MODE": "offline",  # the one word that both of its clients know
    "CLEARML_OFFLINE_MODE": "1",
    "SWANLAB_MODE": "disabled",
    "GIT_OPTIONAL_LOCKS": "0",
}


def additions(
    config: Mapping[str, Any], given: Mapping[str, str | None], inherited: Mapping[str, str]
) -> dict[str, str | None]:
    """Variables to set, or to remove with None; `given` ones win. LaunchError unless it fits in JSON."""
    tracking = Path(config["run_folder"], "mlruns").as_uri()
    return {**QUIET, "MLFLOW_TRACKING_URI": tracking, **given, **entered(config, inherited)}


def entered(config: Mapping[str, Any], inherited: Mapping[str, str]) -> dict[str, str]:
    """Variables by which our runtime gets into each Python, and is told what to do. LaunchError unless it fits in JSON."""
    try:
        text = json.dumps(config)
    except TypeError as error:
        raise LaunchError(f"the experiment must be plain JSON: {error}") from error
    if len(text) > CONFIG_BYTES:
        raise LaunchError(
            f"the experiment takes {len(text):,} characters of JSON, more than {CONFIG_BYTES:,}: "
            "put its data into a file and hand over the path"
        )
    path = [str(RUNTIME / "site"), *filter(None, [inherited.get("PYTHONPATH")])]
    return {"PYTHONPATH": os.pathsep.join(path), CONFIG: text}


def apply(inherited: Mapping[str, str], added: Mapping[str, str | None]) -> dict[str, str]:
    merged: dict[str, str | None] = {**inherited, **added}
    return {name: value for name, value in merged.items() if value is not None}


def shell_line(cwd: Path, added: Mapping[str, str | None], command: Sequence[str]) -> str:
    """What to type to have the same run again."""
    removed = [word for name, value in added.items() if value is None for word in ("-u", name)]
    assigned = [f"{name}={value}" for name, value in added.items() if value is not None]
    return f"cd {shlex.quote(str(cwd))} && {shlex.join(['env', *removed, *assigned, *command])}"
