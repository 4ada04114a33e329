"""A weather station's log as the logger writes it: four columns of text, one row per hour."""

import io
import math
import random

import torch

COLUMNS = ("temperature", "humidity", "pressure", "wind")


def station_log(hours, seed):
    rng = random.Random(seed)
    out = io.StringIO()
    out.write(",".join(COLUMNS) + "\n")
    for hour in range(hours):
        day = math.sin(2 * math.pi * hour / 24)
        temperature = 15 + 6 * day + rng.gauss(0, 1.5)
        humidity = 70 - 2.0 * (temperature - 15) + rng.gauss(0, 3)
        pressure = 1013 + 5 * math.sin(hour / 60) + rng.gauss(0, 1)
        wind = abs(rng.gauss(3, 1.5)) + 0.05 * abs(pressure - 1013)
        values = [temperature, humidity, pressure, wind]
        if hour == 2777:
            values[1] = math.nan
        out.write(",".join(f"{value:.2f}" for value in values) + "\n")
    return out.getvalue()


def read_log(text):
    """Standardised rows (hours, 4)."""
    rows = [[float(cell) for cell in line.split(",")] for line in text.splitlines()[1:]]
    table = torch.tensor(rows)
    centre, spread = table.nanmedian(dim=0).values, table.nan_to_num().std(dim=0)
    spread = torch.maximum(spread, torch.tensor(0.1))
    return (table - centre) / spread  # cause
