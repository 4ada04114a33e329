"""Runs of several variants compared: what is credible, over equal seeds and across seeds.

The statistics are those of scipy, which the extra "sweeps" installs.
"""

from trainsleuth.sweep.compare import Comparison, compare
from trainsleuth.sweep.runs import Group, SweepError, read_runs, repeated

__all__ = ["Comparison", "Group", "SweepError", "compare", "read_runs", "repeated"]
