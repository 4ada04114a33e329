# run by exec() inside the training script: NAME.py files first, then --key=value
import sys
from ast import literal_eval

for argument in sys.argv[1:]:
    if "=" not in argument:
        print(f"overriding from {argument}")
        exec(open(argument).read())
        continue
    key, value = argument.removeprefix("--").split("=", 1)
    if key not in globals():
        raise ValueError(f"unknown setting: {key}")
    try:
        value = literal_eval(value)
    except (SyntaxError, ValueError):
        pass
    if type(value) is not type(globals()[key]):
        raise TypeError(f"{key} must be {type(globals()[key]).__name__}, got {value!r}")
    globals()[key] = value
