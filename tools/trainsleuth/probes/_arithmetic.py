"""Why an operation gives inf or NaN: the arithmetic behind the usual ones, told with the numbers seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Link = Mapping[str, Any]

LARGEST = {"float16": 65504.0, "bfloat16": 3.39e38, "float32": 3.40e38, "float64": 1.80e308}
EXP_LIMIT = {"float16": 11.09, "bfloat16": 88.72, "float32": 88.72, "float64": 709.78}
DIVERGED = 1e6  # activations and losses of healthy networks stay far below
LOGS = frozenset({"log", "log2", "log10", "log1p", "log_"})
SOFTMAXES = frozenset({"_softmax", "_log_softmax", "_safe_softmax"})
NORMALISERS = frozenset({"native_layer_norm", "native_batch_norm", "native_group_norm", "var_mean", "std", "var"})
EDGES = {  # start of the autograd node's name -> where its derivative has no finite value
    "Sqrt": "the derivative of sqrt at 0 is infinite",
    "Rsqrt": "the derivative of 1/sqrt(x) at 0 is infinite",
    "Log": "the derivative of log at 0 is 1/0, and a where or a mask behind it cannot help: 0/0 is NaN",
    "Pow": "the derivative of a power below 1 at 0 is infinite, and 0 times infinity is NaN",
    "Div": "the derivative of a division by 0 is not finite",
    "Reciprocal": "the derivative of 1/x at 0 is infinite",
    "LinalgVectorNorm": "the norm has no derivative at 0",
    "Norm": "the norm has no derivative at 0",
    "Std": "the standard deviation has no derivative where all values are equal",
    "Acos": "the derivative of acos at -1 and 1 is infinite",
    "Asin": "the derivative of asin at -1 and 1 is infinite",
    "Atan2": "atan2 has no derivative at (0, 0)",
    "Cdist": "a distance has no derivative at 0",
}


def reason(link: Link) -> str:
    """One clause without a full stop; "" when the operation explains itself."""
    if link.get("direction") == "backward" and link["kind"] == "born":
        return edge(link) or _of_size(link)
    name = str(link.get("op"))
    if name in LOGS:
        return _of_log(link)
    if name in SOFTMAXES and link["kind"] == "turned":
        return _of_softmax(link)
    if name in ("div", "div_", "reciprocal"):
        return _of_division(link)
    if name in ("exp", "exp_", "expm1", "logaddexp", "cosh", "sinh"):
        return f"exp overflows above {EXP_LIMIT.get(dtype(link), 88.72)} in {dtype(link)}"
    if name in ("acos", "asin", "acosh", "atanh"):
        return f"{name} is not defined outside its interval"
    if name in ("sqrt", "rsqrt", "pow") and lowest(link) < 0 and "nan" in link["output"]:
        return "the root of a negative number is NaN"
    return _of_reduction(link, name) or _of_size(link)


def edge(link: Link) -> str:
    """Where the derivative that ran has no finite value; "" when it has one everywhere."""
    return next((why for start, why in EDGES.items() if str(link.get("node")).startswith(start)), "")


def _of_log(link: Link) -> str:
    if lowest(link) < 0:
        return "the log of a negative number is NaN"
    return "the log of 0 is -inf" if any(given.get("zeros") for given in link["inputs"]) else ""


def _of_softmax(link: Link) -> str:
    given = link["inputs"][0]
    if given.get("inf"):
        return "a score is +inf, and inf - inf is NaN"
    return "a whole row is -inf (everything in it is masked), and its softmax is 0/0"


def _of_division(link: Link) -> str:
    below = link["inputs"][-1]
    if link["kind"] == "turned":
        return "infinity divided by infinity is NaN"
    if below.get("zeros"):
        return "division by 0"
    return ""


def _of_reduction(link: Link, name: str) -> str:
    given = link["inputs"][0] if link["inputs"] else {}
    shape = given.get("shape", [])
    if name.startswith("nll_loss") and link["kind"] == "born":
        return "no target counts (all are ignore_index), so the mean is 0/0"
    if name == "mean" and 0 in shape:
        return "the mean of an empty tensor is NaN"
    if name in ("std", "var", "var_mean") and link["kind"] == "born":
        return "the unbiased deviation of a single value is 0/0"
    if name in NORMALISERS and link["kind"] == "turned":
        return "one infinite value makes the mean of its row infinite, and inf - inf is NaN"
    return ""


def _of_size(link: Link) -> str:
    output = link.get("output", {})
    if link["kind"] == "turned":
        return "inf - inf, 0 * inf and inf / inf are NaN"
    if link["kind"] == "born" and ("inf" in output or "-inf" in output) and not link.get("constant"):
        return f"the result is above {LARGEST.get(dtype(link), 3.40e38):.3g}, the largest {dtype(link)}"
    return ""


def overflows(link: Link) -> bool:
    """Did finite values grow too large in the forward?"""
    output = link.get("output", {})
    is_edge = link.get("op") in LOGS or link.get("op") in ("div", "div_", "reciprocal")
    grew = "inf" in output or "-inf" in output
    is_plain = link["kind"] == "born" and link.get("direction") == "forward" and not link.get("constant")
    return is_plain and grew and not is_edge


def diverged(link: Link) -> bool:
    """Was it fed with values that no healthy network computes? Then training had left its path before."""
    largest = max((abs(given[end]) for given in link["inputs"] for end in ("min", "max") if end in given), default=0.0)
    return overflows(link) and largest > DIVERGED


def lowest(link: Link) -> float:
    return min((given["min"] for given in link["inputs"] if "min" in given), default=0.0)


def dtype(link: Link) -> str:
    return str(next((given["dtype"] for given in link["inputs"]), "float32"))
