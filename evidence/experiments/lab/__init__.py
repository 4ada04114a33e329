"""What the experiments share: a task to train on, the record of a result, and the runner.

`python -m lab` in this folder runs them all; `python -m lab NAME` some.
"""
