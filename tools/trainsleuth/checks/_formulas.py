"""Formulas of the field that training code writes out, and what it calls the things in them.

Each is told by the names of what goes in: all of its roles must be there and nothing else, whatever the way it is written.
What is right in more than one form has them all. Deliberately not here: formulas whose parts bear no names of their own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from trainsleuth.facts import Expr, formula, value

_PARTS = re.compile(r"relu|clamp|min|max|abs")
POINTS = 36  # at which two formulas agree only if they are one


@dataclass(frozen=True)
class Formula:
    """`texts`: the right forms, the one that is shown first, in Python over `roles`, each with what its things are called.

    `up_to`: what may differ without harm: "" nothing, a "factor" of any sign, a "constant" term, or "both".
    `near`: what the text of the function holds, a regular expression. `goes_by`: where one of a pair is only told by it,
    the name that the statement gives it. `source`: where the formula stands.
    """

    what: str
    texts: tuple[str, ...]
    roles: Mapping[str, str]
    source: str
    near: str
    up_to: str = ""
    goes_by: str = ""

    @cached_property
    def patterns(self) -> Mapping[str, re.Pattern[str]]:
        return {role: re.compile(names, re.IGNORECASE | re.MULTILINE) for role, names in self.roles.items()}

    @cached_property
    def mark(self) -> re.Pattern[bytes]:
        return re.compile(self.near.encode())

    @cached_property
    def forms(self) -> tuple[Expr, ...]:
        return tuple(map(formula, self.texts))

    @cached_property
    def points(self) -> tuple[Mapping[str, float], ...]:
        """Numbers for the roles at which all forms have a value: a third of them none above 1, and of both signs where a form has
        another part for each.
        """
        return tuple(
            point for point in map(self._point, range(POINTS)) if all(_has_value(one, point) for one in self.forms)
        )

    def _point(self, row: int) -> Mapping[str, float]:
        below = -1.2 if _PARTS.search(" ".join(self.texts)) else 0.15
        least, most = ((0.15, 0.85), (0.15, 2.25), (below, 2.4))[row % 3]
        return {role: least + _mixed(row, column) * (most - least) for column, role in enumerate(self.roles, 1)}

    @cached_property
    def values(self) -> tuple[tuple[float, ...], ...]:
        """Of each form, at the points."""
        return tuple(tuple(value(form, point) for point in self.points) for form in self.forms)

    def may_stand_in(self, names: str) -> bool:
        """Wide: each role has a name among those of a function, one a line."""
        return all(pattern.search(names) for pattern in self.patterns.values())

    def is_leaf(self, called: str) -> bool:
        return any(pattern.search(called) for pattern in self.patterns.values())


def _mixed(row: int, column: int) -> float:
    """From 0 to 1, the same each time, and in no step with its neighbours."""
    return math.sin(12.9898 * row + 78.233 * column) * 43758.5453 % 1


def _has_value(expr: Expr, point: Mapping[str, float]) -> bool:
    try:
        value(expr, point)
    except (ArithmeticError, ValueError):
        return False
    return True


def named(names: str) -> str:
    """One of the words, as a part of a name between underscores, numbers behind it: mu, z_mu, mu_1, mus[t]."""
    return rf"(?:^|_)(?:{names})\d?(?:_|$|\[)"


_MEAN = named("mus?|means?|m|loc")
_LOG_VARIANCE = r"log_?_?(?:vars?|variances?|sigma_?(?:sq|2|squared?)|s2)(?:_|\d|$|\[|\()|^lv\d?$|logv(?:_|\d|$)"
_SIGMA = r"^(?!.*log).*(?:^|_)(?:stds?|sigmas?|stddevs?|std_?devs?|sd)\d?(?:_|$|\[)"
_NOISE = r"^(?!.*(?:pred|out|model)).*(?:randn|normal_?\(|(?:^|_)(?:eps|epsilons?|noises?|e_t)\d?(?:_|$|\())"
_ALPHA_BAR = r"^(?!.*(?:sqrt|prev)).*(?:alphas?_?(?:bars?|hats?|cum_?prods?|prods?)|a_?bars?|abar)"
_ALPHA_BAR_BEFORE = (
    r"^(?!.*sqrt).*(?:alphas?_?(?:bars?|hats?|cum_?prods?|prods?)|a_?bars?|abar).*prev|prev.*(?:alpha|a_bar)"
)
_ALPHA = r"^alphas?(?:_t)?(?:$|\[)"
_BETA = r"^betas?(?:_t)?(?:$|\[)"
_CLEAN = r"^(?:x|x_?0|x_?start|x_?zero|images?|imgs?|clean|data|batch|latents?|z|z_?0|y_?0|original_samples|actions?)(?:$|\[)"
_NOISY = r"^(?:x|x_?t|xt|z_?t|noisy\w*|samples?|images?|imgs?|latents?|img)(?:$|\[)"
_GUESSED = r"(?:eps|epsilon|noise|pred|model_output|e_t|^et$|theta)"
_REWARD = named("r|rews?|rewards?")
_DISCOUNT = r"^(?:self_)?(?:gamma|discount|discount_?factor|discount_?rate|df)(?:$|_)"
_DONE = r"^(?!.*(?:not|non|un|mask)).*(?:done|terminal|terminated|is_?last)"
_GOES_ON = r"mask|not_?done|non_?terminal|un_?done|continues?|(?:^|_)alive"
_NEXT = r"next|_tp?1|\+ 1\]|(?:^|_)v_?s?_?1$"
_VALUE = (
    r"^(?!.*(?:next|_tp?1|\+ 1\]|target)).*(?:^|_)(?:v|vals?|values?|v_s|state_values?|baselines?|critic)(?:_|$|\[|\()"
)
_PROBABILITY = r"^(?:p|ps|probs?|probas?|probabilit\w+|preds?|y_?hat|y_?pred|pred_\w*prob\w*|sigmoid\w*|prob_\w+|outputs?)(?:$|\[)|_probs?$|sigmoid\("
_LABEL = r"^(?:y|t|targets?|labels?|gts?|y_?true|ground_?truth|one_?hot\w*|targets?_\w+|labels?_\w+|tgt)(?:$|\[)"
_DATUM = r"^(?:x|data|imgs?|images?|inputs?|features?|feats?|arr|array|values?|series|signal|audio|wave\w*|spec\w*|mel\w*|states?|obs|observations?|rewards?|returns?|y|targets?|samples?|batch|df|col|column)(?:$|\[)"
_LAMBDA = r"^(?:lam|lambda_?|lmbda|gae_?lam\w*|tau|lambd)$"
_ADVANTAGE = r"gae|^adv|last_?adv|running"
_DELTA = r"delta|td_?err"
_CENTRE = r"^(?!.*(?:std|var)).*(?:mean|avg|(?:^|_)mus?$)"
_AREA = r"^(?!.*(?:inter|overlap|union)).*(?:area|pred|out|box|^a|^b|s\d|input|true|target|label|gt|mask)"
_STD = r"^(?!.*(?:mean|log|inv|rstd)).*(?:std|stddev|(?:^|_)sigma$)"
_VARIANCE = r"^(?!.*(?:mean|log|std|inv)).*(?:var(?:iance)?)(?:$|_|\()"
_LEAST = r"^(?!.*max).*(?:min|(?:^|_)low)"
_MOST = r"^(?!.*min).*(?:max|(?:^|_)high)"
_LOWER = r"low|min|lower"
_UPPER = r"high|max|upper"
_SAME_OR_NOT = _LABEL + r"|same|is_pos"
_DISTANCE = r"dist|euclid|^(?:d|D|dw|d_w)$"
_MARGIN = r"margin|^m$"
_ERROR = r"^(?!.*rmse).*(?:mse|l2)"
_NORM = r"norm|^grads?$|gradients?"

# What the text of a function holds where one may stand.
_BY_LOG_VARIANCE = r"log_?_?(?:var|sigma)|logv"
_BY_SIGMA = r"log\([^\n]*(?:std|sigma)|(?:std|sigma)\w*\)?\.log"
_BY_DISCOUNT = r"gamma[^\n]*\*|discount[^\n]*\*"
_BY_DELTA = r"delta\w*(?:\[\w+\])? ?[-+]|td_?err[^\n]*\+"
_BY_ALPHA_BAR = r"alphas?_?(?:bar|hat|cum|prod)|a_bar|sqrt_one"
_BY_COSINE = r"cos\("
_BY_OVERLAP = r"intersect|inter_|inter |overlap|union"
_BY_PSNR = r"psnr|PSNR"
_BY_STD = r"mean\w*(?:\[[^\]\n]*\]|\([^()\n]*\))*\)+ ?[/*]|std\w*(?:\[[^\]\n]*\])?\)? ?[-+] ?[\w.]*mean|[*/]=? ?[\w.]*\[?[\"']?std"
_BY_VARIANCE = r"sqrt\([\w.]*var|/ ?[\w.]*var\b"
_BY_RANGE = r"max\w*(?:\([^()\n]*\))?(?:\[[^\]\n]*\])? ?[-+] ?[\w.]*min|high\w* ?[-+] ?[\w.]*low"
_BY_MARGIN = r"margin|\(m - "
_BY_PENALTY = r"gradient_penalty|grad_penalty|_gp\("


FORMULAS = (
    Formula(
        "the KL divergence of a normal distribution from the standard one",
        ("-0.5 * (1 + logvar - mu**2 - exp(logvar))",),
        {"mu": _MEAN, "logvar": _LOG_VARIANCE},
        "Kingma and Welling 2014, appendix B",
        near=_BY_LOG_VARIANCE,
        up_to="both",
    ),
    Formula(
        "the KL divergence of a normal distribution from the standard one",
        ("-0.5 * (1 + log(sigma**2) - mu**2 - sigma**2)",),
        {"mu": _MEAN, "sigma": _SIGMA},
        "Kingma and Welling 2014, appendix B",
        near=r"kl_|kld|KL",
        up_to="both",
    ),
    Formula(
        "the KL divergence of one normal distribution from another",
        ("0.5 * (logvar_2 - logvar_1 + (exp(logvar_1) + (mu_1 - mu_2)**2) / exp(logvar_2))",),
        {"mu_1": _MEAN, "mu_2": _MEAN, "logvar_1": _LOG_VARIANCE, "logvar_2": _LOG_VARIANCE},
        "Kingma and Welling 2014, appendix B",
        near=_BY_LOG_VARIANCE,
        up_to="both",
    ),
    Formula(
        "the KL divergence of one normal distribution from another",
        ("log(sigma_2 / sigma_1) + (sigma_1**2 + (mu_1 - mu_2)**2) / (2 * sigma_2**2)",),
        {"mu_1": _MEAN, "mu_2": _MEAN, "sigma_1": _SIGMA, "sigma_2": _SIGMA},
        "Kingma and Welling 2014, appendix B",
        near=_BY_SIGMA,
        up_to="both",
    ),
    Formula(
        "the negative log-likelihood of a normal distribution",
        ("0.5 * (logvar + (x - mu)**2 / exp(logvar))",),
        {"x": r"^(?:x|y|targets?|labels?|data|obs|recons?|samples?|z)(?:$|_|\[)", "mu": _MEAN + r"|^(?:preds?|outputs?|recons?|x_?hat)(?:$|_)", "logvar": _LOG_VARIANCE},
        "Nix and Weigend 1994",
        near=_BY_LOG_VARIANCE,
        up_to="both",
    ),
    Formula(
        "the negative log-likelihood of a normal distribution",
        ("log(sigma) + (x - mu)**2 / (2 * sigma**2)",),
        {"x": r"^(?:x|y|targets?|labels?|data|obs|samples?|z|actions?)(?:$|_|\[)", "mu": _MEAN + r"|^(?:preds?|outputs?)(?:$|_)", "sigma": _SIGMA},
        "Nix and Weigend 1994",
        near=_BY_SIGMA,
        up_to="both",
    ),
    Formula(
        "the error of a state's value",
        ("reward + gamma * next_value * (1 - done) - value",),
        {"reward": _REWARD, "gamma": _DISCOUNT, "next_value": _NEXT, "done": _DONE, "value": _VALUE},
        "Sutton and Barto 2018, section 6.1",
        near=_BY_DISCOUNT,
        up_to="factor",
    ),
    Formula(
        "the error of a state's value",
        ("reward + gamma * next_value * mask - value", "reward + gamma * next_value * (1 - mask) - value"),
        {"reward": _REWARD, "gamma": _DISCOUNT, "next_value": _NEXT, "mask": _GOES_ON, "value": _VALUE},
        "Sutton and Barto 2018, section 6.1",
        near=_BY_DISCOUNT,
        up_to="factor",
    ),
    Formula(
        "generalised advantage estimation",
        ("delta + gamma * lam * mask * gae", "delta + gamma * lam * (1 - mask) * gae"),
        {"delta": _DELTA, "gamma": _DISCOUNT, "lam": _LAMBDA, "mask": _GOES_ON, "gae": _ADVANTAGE},
        "Schulman and others 2016, equation 16",
        near=_BY_DELTA,
    ),
    Formula(
        "generalised advantage estimation",
        ("delta + gamma * lam * (1 - done) * gae",),
        {"delta": _DELTA, "gamma": _DISCOUNT, "lam": _LAMBDA, "done": _DONE, "gae": _ADVANTAGE},
        "Schulman and others 2016, equation 16",
        near=_BY_DELTA,
    ),
    Formula(
        "generalised advantage estimation",
        ("delta + gamma * lam * gae",),
        {"delta": _DELTA, "gamma": _DISCOUNT, "lam": _LAMBDA, "gae": _ADVANTAGE},
        "Schulman and others 2016, equation 16",
        near=_BY_DELTA,
    ),
    Formula(
        "the clipped objective of a policy",
        ("min(ratio * advantage, clamp(ratio, 1 - clip, 1 + clip) * advantage)",),
        {"ratio": r"ratio", "advantage": r"adv|gae|^delta", "clip": r"clip|^eps"},
        "Schulman and others 2017, equation 7",
        near=r"surr|ratio\w* ?\*",
        up_to="factor",
    ),
    Formula(
        "the log-probability of an action behind tanh",
        ("log_prob - log(1 - action**2)",),
        {"log_prob": r"log_?p(?:rob|i)?s?", "action": r"^(?:a|actions?|y_t|tanh_?\w*|squashed\w*)$"},
        "Haarnoja and others 2018, appendix C",
        near=r"log\(1(?:\.0?)? ?[-+]",
    ),
    Formula(
        "a picture at a step of diffusion",
        ("sqrt(alpha_bar) * x_0 + sqrt(1 - alpha_bar) * noise", "sqrt(alpha_bar) * noise - sqrt(1 - alpha_bar) * x_0"),
        {"alpha_bar": _ALPHA_BAR, "x_0": _CLEAN, "noise": _NOISE},
        "Ho and others 2020, equation 4",
        near=_BY_ALPHA_BAR,
    ),
    Formula(
        "a picture at a step of diffusion",
        ("sqrt_alpha_bar * x_0 + sqrt_one_minus_alpha_bar * noise", "sqrt_alpha_bar * noise - sqrt_one_minus_alpha_bar * x_0"),
        {"sqrt_alpha_bar": r"^(?!.*(?:minus|1m|recip|m1)).*sqrt_?(?:a|alphas?)_?(?:bars?|hats?|cum_?prods?|prods?)", "x_0": _CLEAN, "noise": _NOISE, "sqrt_one_minus_alpha_bar": r"sqrt_?(?:one_?minus|1m|om|1_minus)"},
        "Ho and others 2020, equation 4",
        near=_BY_ALPHA_BAR,
    ),
    Formula(
        "the clean picture behind a step of diffusion",
        ("(x_t - sqrt(1 - alpha_bar) * noise) / sqrt(alpha_bar)",),
        {"alpha_bar": _ALPHA_BAR, "x_t": _NOISY, "noise": _GUESSED},
        "Ho and others 2020, equation 15",
        near=_BY_ALPHA_BAR,
    ),
    Formula(
        "the mean of a step back in diffusion",
        ("(x_t - (1 - alpha) / sqrt(1 - alpha_bar) * noise) / sqrt(alpha)",),
        {"alpha": _ALPHA, "alpha_bar": _ALPHA_BAR, "x_t": _NOISY, "noise": _GUESSED},
        "Ho and others 2020, equation 11",
        near=_BY_ALPHA_BAR,
    ),
    Formula(
        "the mean of a step back in diffusion",
        ("(x_t - beta / sqrt(1 - alpha_bar) * noise) / sqrt(alpha)",),
        {"alpha": _ALPHA, "beta": _BETA, "alpha_bar": _ALPHA_BAR, "x_t": _NOISY, "noise": _GUESSED},
        "Ho and others 2020, equation 11",
        near=_BY_ALPHA_BAR,
    ),
    Formula(
        "the posterior of a step back in diffusion",
        ("beta * (1 - alpha_bar_prev) / (1 - alpha_bar)",),
        {"beta": _BETA, "alpha_bar_prev": _ALPHA_BAR_BEFORE, "alpha_bar": _ALPHA_BAR},
        "Ho and others 2020, equation 7",
        near=_BY_ALPHA_BAR,
    ),
    Formula(
        "the posterior of a step back in diffusion",
        ("beta * sqrt(alpha_bar_prev) / (1 - alpha_bar)",),
        {"beta": _BETA, "alpha_bar_prev": _ALPHA_BAR_BEFORE, "alpha_bar": _ALPHA_BAR},
        "Ho and others 2020, equation 7",
        near=_BY_ALPHA_BAR,
    ),
    Formula(
        "the posterior of a step back in diffusion",
        ("sqrt(alpha) * (1 - alpha_bar_prev) / (1 - alpha_bar)",),
        {"alpha": _ALPHA, "alpha_bar_prev": _ALPHA_BAR_BEFORE, "alpha_bar": _ALPHA_BAR},
        "Ho and others 2020, equation 7",
        near=_BY_ALPHA_BAR,
    ),
    Formula(
        "the cosine schedule of a diffusion",
        ("cos((t / steps + s) / (1 + s) * 3.14159265359 / 2)**2",),
        {"t": r"^(?:t|x|ts?|steps?|i)$|arange|linspace", "steps": r"^(?:T|steps|\w*timesteps|num_\w+|n_steps|n_T)$", "s": r"^(?:s|offset|cosine_s)$"},
        "Nichol and Dhariwal 2021, equation 17",
        near=_BY_COSINE,
        up_to="factor",
    ),
    Formula(
        "a rate that falls along a cosine",
        ("low + 0.5 * (high - low) * (1 + cos(3.14159265359 * step / steps))",),
        {"low": r"(?:min|final|end).*(?:lr|eta|rate)|(?:lr|eta|rate).*(?:min|final|end)", "high": r"(?:^|_)(?:lr|eta|rate|lrs)(?:_|$)|learning_?rate", "step": r"^(?!.*(?:total|max|num|n_|steps|epochs)).*(?:step|epoch|iter|it$|^t$|cur)", "steps": r"total|max_(?:iter|step|epoch)|T_max|num_|n_steps|steps$|epochs$|decay"},
        "Loshchilov and Hutter 2017, equation 5",
        near=_BY_COSINE,
    ),
    Formula(
        "the rate of the first transformer",
        ("width**-0.5 * min(step**-0.5, step * warmup**-1.5)",),
        {"width": r"d_?model|model_?(?:size|dim)|hidden|^dim$|^d$|embed|n_embd", "step": r"^(?!.*warm).*step|^(?:i|t|it|iteration|epoch|n_\w*steps)$", "warmup": r"warm"},
        "Vaswani and others 2017, equation 3",
        near=r"-1\.5|warm\w*\)? ?\*\*",
        up_to="factor",
    ),
    Formula(
        "half the range of an action",
        ("(high - low) / 2",),
        {"high": _UPPER, "low": _LOWER},
        "Haarnoja and others 2018, appendix C",
        near=r"action_scale",
        up_to="factor",
        goes_by=r"action_scale",
    ),
    Formula(
        "the middle of the range of an action",
        ("(high + low) / 2",),
        {"high": _UPPER, "low": _LOWER},
        "Haarnoja and others 2018, appendix C",
        near=r"action_bias",
        up_to="factor",
        goes_by=r"action_bias",
    ),
    Formula(
        "what a step of conjugate gradients leaves",
        ("residual - alpha * product",),
        {"residual": r"^r(?:esiduals?|es)?$", "alpha": r"^(?:alpha|v)$", "product": r"^_?(?:A_?p|A_?v_?p|z)$"},
        "Hestenes and Stiefel 1952",
        near=r"- alpha \* |\+ alpha \* |- v \* |\+ v \* ",
    ),
    Formula(
        "how far an average goes back at first",
        ("min(1 - 1 / (step + 1), decay)",),
        {"step": r"step|iter|epoch|^t$|count", "decay": r"alpha|decay|momentum|ema"},
        "Tarvainen and Valpola 2017, section 3",
        near=r"min\(1(?:\.0?)? ?[-+] ?1|min\(1(?:\.0?)? ?/ ?\(",
    ),
    Formula(
        "Dice's coefficient",
        ("2 * both / (a + b)",),
        {"both": r"inter|overlap|^tp$", "a": r"^(?!.*(?:inter|overlap)).*(?:pred|out|input|logit|prob|^(?:a|x|p|m1|iflat|set1))", "b": r"^(?!.*(?:inter|overlap)).*(?:true|target|label|gt|mask|truth|^(?:b|y|t|m2|tflat|set2))"},
        "Milletari and others 2016, section 3",
        near=_BY_OVERLAP,
        up_to="factor",
    ),
    Formula(
        "the intersection over the union",
        ("both / (a + b - both)",),
        {"both": r"inter|overlap", "a": _AREA, "b": _AREA},
        "Everingham and others 2010, equation 3",
        near=_BY_OVERLAP,
    ),
    Formula(
        "the generalised intersection over the union",
        ("iou - (hull - union) / hull",),
        {"iou": r"iou", "hull": r"hull|enclos|convex|closure|c_area|area_c|^c$|outer", "union": r"union"},
        "Rezatofighi and others 2019, algorithm 1",
        near=_BY_OVERLAP,
    ),
    Formula(
        "Tversky's index",
        ("tp / (tp + alpha * fp + beta * fn)", "tp / (tp + alpha * fn + beta * fp)"),
        {"tp": r"^(?:tp|true_pos\w*|TP)$|inter", "fp": r"^(?:fps?|false_pos\w*)$", "fn": r"^(?:fns?|false_neg\w*)$", "alpha": r"^alpha", "beta": r"^beta"},
        "Salehi and others 2017, equation 3",
        near=r"versky",
    ),
    Formula(
        "the F1 score",
        ("2 * precision * recall / (precision + recall)",),
        {"precision": r"^(?!.*recall).*prec", "recall": r"^(?!.*prec).*rec(?:all)?s?(?:$|_|\d)"},
        "van Rijsbergen 1979, chapter 7",
        near=r"recall",
    ),
    Formula(
        "the coefficient of determination",
        ("1 - residual / total",),
        {"residual": r"res|sse|rss", "total": r"ss_?t|tot|tss|sst"},
        "Draper and Smith 1998, section 1.3",
        near=r"ss_res|SS_res|ss_tot",
    ),
    Formula(
        "the ratio of peak signal to noise",
        ("-10 * log10(mse)",),
        {"mse": _ERROR},
        "Huynh-Thu and Ghanbari 2008, equation 1",
        near=_BY_PSNR,
        up_to="constant",
    ),
    Formula(
        "the ratio of peak signal to noise",
        ("10 * log10(peak**2 / mse)",),
        {"mse": _ERROR, "peak": r"peak|max|range|pixel"},
        "Huynh-Thu and Ghanbari 2008, equation 1",
        near=_BY_PSNR,
        up_to="constant",
    ),
    Formula(
        "values brought to mean 0 and deviation 1, or back",
        ("(x - mean) / std",),
        {"x": _DATUM, "mean": _CENTRE, "std": _STD},
        "Ioffe and Szegedy 2015, algorithm 1",
        near=_BY_STD,
        up_to="factor",
    ),
    Formula(
        "values brought to mean 0 and deviation 1, or back",
        ("x * std + mean",),
        {"x": _DATUM, "mean": _CENTRE, "std": _STD},
        "Ioffe and Szegedy 2015, algorithm 1",
        near=_BY_STD,
        up_to="factor",
    ),
    Formula(
        "values brought to mean 0 and deviation 1, or back",
        ("(x - mean) / sqrt(variance)",),
        {"x": _DATUM, "mean": _CENTRE, "variance": _VARIANCE},
        "Ioffe and Szegedy 2015, algorithm 1",
        near=_BY_VARIANCE,
        up_to="factor",
    ),
    Formula(
        "values brought to mean 0 and deviation 1, or back",
        ("x * sqrt(variance) + mean",),
        {"x": _DATUM, "mean": _CENTRE, "variance": _VARIANCE},
        "Ioffe and Szegedy 2015, algorithm 1",
        near=_BY_VARIANCE,
        up_to="factor",
    ),
    Formula(
        "values brought between 0 and 1, or back",
        ("(x - low) / (high - low)", "(x + abs(low)) / (high - low)"),
        {"x": _DATUM, "low": _LEAST, "high": _MOST},
        "Han and others 2012, section 3.5",
        near=_BY_RANGE,
        up_to="both",
    ),
    Formula(
        "values brought between 0 and 1, or back",
        ("x * (high - low) + low", "(x + 1) / 2 * (high - low) + low"),
        {"x": _DATUM, "low": _LEAST, "high": _MOST},
        "Han and others 2012, section 3.5",
        near=_BY_RANGE,
        up_to="both",
    ),
    Formula(
        "the distance of all pairs",
        ("a**2 + b**2 - 2 * a * b",),
        {"a": r".", "b": r"."},
        "van den Oord and others 2017, equation 1",
        near=r"2(?:\.0?)? ?\* ?[^\n]*(?:matmul|mm\(|bmm|dot|einsum|@|\.t\(\)|\.T)",
        up_to="factor",
    ),
    Formula(
        "the probability of the label",
        ("p * y + (1 - p) * (1 - y)", "p * (1 - y) + (1 - p) * y"),
        {"p": _PROBABILITY, "y": _LABEL},
        "Lin and others 2017, equation 2",
        near=r"\(1(?:\.0?)? ?- ?[\w.]+\) ?\* ?\(1(?:\.0?)? ?- ?",
    ),
    Formula(
        "binary cross-entropy",
        ("y * log(p) + (1 - y) * log(1 - p)",),
        {"p": _PROBABILITY, "y": _LABEL},
        "Goodfellow and others 2016, section 6.2.2",
        near=r"log\((?:1|\(|[\w.]*(?:p|out|sig))",
        up_to="factor",
    ),
    Formula(
        "the loss of pairs",
        ("(1 - y) * distance + y * relu(margin - distance)",),
        {"y": _SAME_OR_NOT, "distance": _DISTANCE, "margin": _MARGIN},
        "Hadsell and others 2006, equation 4",
        near=_BY_MARGIN,
        up_to="factor",
    ),
    Formula(
        "the loss of pairs",
        ("y * distance + (1 - y) * relu(margin - distance)",),
        {"y": _SAME_OR_NOT, "distance": _DISTANCE, "margin": _MARGIN},
        "Hadsell and others 2006, equation 4",
        near=_BY_MARGIN,
        up_to="factor",
    ),
    Formula(
        "the loss of pairs",
        ("y * distance**2 + (1 - y) * relu(margin - distance)**2",),
        {"y": _SAME_OR_NOT, "distance": _DISTANCE, "margin": _MARGIN},
        "Hadsell and others 2006, equation 4",
        near=_BY_MARGIN,
        up_to="factor",
    ),
    Formula(
        "the loss of pairs",
        ("(1 - y) * distance**2 + y * relu(margin - distance)**2",),
        {"y": _SAME_OR_NOT, "distance": _DISTANCE, "margin": _MARGIN},
        "Hadsell and others 2006, equation 4",
        near=_BY_MARGIN,
        up_to="factor",
    ),
    Formula(
        "the loss of triplets of distances",
        ("relu(positive - negative + margin)",),
        {"positive": r"(?:pos\w*_(?:d|dist\w*)|(?:d|dist\w*)_(?:ap|p|pos\w*)|^ap_dist\w*|^d(?:ist)?_?ap|^ap$)$", "negative": r"(?:neg\w*_(?:d|dist\w*)|(?:d|dist\w*)_(?:an|n|neg\w*)|^an_dist\w*|^d(?:ist)?_?an|^an$)$", "margin": r"margin|^alpha$"},
        "Schroff and others 2015, equation 3",
        near=_BY_MARGIN,
        up_to="factor",
    ),
    Formula(
        "an estimate of the divergence from a reference",
        ("exp(log_ratio) - 1 - log_ratio", "exp(-log_ratio) - 1 + log_ratio"),
        {"log_ratio": r"log_?ratio|^kl\w*$|(?:log\w*|kl)_diff|^diff$|^(?:per_token_)?log_?r$"},
        "Schulman 2020, approximating KL divergence",
        near=r"ratio\w*\.exp|exp\([\w.]*(?:ratio|diff)",
    ),
    Formula(
        "an estimate of the divergence from the old policy",
        ("ratio - 1 - log_ratio",),
        {"ratio": r"^(?!.*log).*ratio", "log_ratio": r"log_?ratio"},
        "Schulman 2020, approximating KL divergence",
        near=r"ratio\w* ?- ?1",
        up_to="factor",
    ),
    Formula(
        "the chance of exploring",
        ("end + (start - end) * exp(-steps / decay)",),
        {"end": r"end|final|min|stop", "start": r"start|init|max|begin", "steps": r"^(?!.*(?:decay|start|end|min|max)).*(?:step|count|episode|frame|iter|^t$|^i$|idx|done)", "decay": r"decay"},
        "Mnih and others 2015, methods",
        near=r"exp\([^\n]*decay",
    ),
    Formula(
        "the penalty on a critic's gradient",
        ("(norm - 1)**2", "norm**2"),
        {"norm": _NORM},
        "Gulrajani and others 2017, equation 3",
        near=_BY_PENALTY,
        up_to="factor",
    ),
    Formula(
        "the penalty on a critic's gradient",
        ("relu(norm - 1)**2",),
        {"norm": _NORM},
        "Gulrajani and others 2017, equation 3",
        near=_BY_PENALTY,
        up_to="factor",
    ),
    Formula(
        "the hinge loss of a critic on real examples",
        ("relu(1 - real)",),
        {"real": r"real"},
        "Miyato and others 2018, equation 16",
        near=r"1(?:\.0?)? ?[-+] ?[\w.]*real",
        up_to="factor",
    ),
    Formula(
        "a moment without its bias to zero",
        ("moment / (1 - beta**step)",),
        {"moment": r"^(?:m|v|m_?t|v_?t|exp_avg\w*|momentum\w*|state_m|state_v)$", "beta": r"beta|decay", "step": r"step|^t$|iter"},
        "Kingma and Ba 2015, algorithm 1",
        near=r"beta\w*(?:\[\d\])? ?\*\* ?|beta\w*\.pow|pow\([\w.]*beta",
    ),
    Formula(
        "the cell of an LSTM",
        ("forget * cell + enter * new",),
        {"forget": r"forget|^f(?:_?t|_gate|g)?$", "cell": r"^c(?:_?prev|_?t|x|ell\w*|_0)?$|cell_?state", "enter": r"^i(?:_?t|_gate|g|nput_?gate|n_?gate)?$|in_?gate|input_gate", "new": r"^g(?:_?t|_gate)?$|cell_?gate|c_?tilde|c_?hat|cand|new_c|c_?in"},
        "Hochreiter and Schmidhuber 1997; Gers and others 2000",
        near=r"forget|f_gate|f_t \*|f \* c",
    ),
    Formula(
        "the state of a GRU",
        ("(1 - update) * new + update * state", "update * new + (1 - update) * state"),
        {"update": r"update|^z(?:_?t|_gate)?$", "new": r"^n(?:_?t|_gate)?$|new|cand|tilde|h_?hat|^q$", "state": r"^h(?:_?prev|_?t|x|idden)?(?:_0)?$|hidden|^state"},
        "Cho and others 2014, equation 7",
        near=r"\(1(?:\.0?)? ?[-+] ?(?:z|update)",
    ),
    Formula(
        "attention scores",
        ("query * key / sqrt(width)",),
        {"query": r"^(?:q|query|queries|Q|xq)(?:$|_|\[|\()", "key": r"^(?:k|keys?|K|xk)(?:$|_|\[|\()", "width": r"size\(|shape\[|dim|^d_?k$|^dk$|head|hidden|d_?model|width|embed|channels"},
        "Vaswani and others 2017, equation 1",
        near=r"matmul\([^\n]*[/*]|bmm\([^\n]*[/*]|sqrt\([\w.]*(?:d_?k|dim|head)",
    ),
    Formula(
        "the wave lengths of positions",
        ("exp(-i * 9.21034037198 / width)", "exp(-2 * i * 9.21034037198 / width)", "exp(-i * 9.21034037198 / (width - 1))"),
        {"i": r"arange|^i$|dim_t|^idx|freq|^j$", "width": r"dim|d_?model|size|hidden|half|embed|n_embd|width|channels|^d$|shape\["},
        "Vaswani and others 2017, section 3.5",
        near=r"10000",
    ),
    Formula(
        "smoothed labels",
        ("(1 - smoothing) * one_hot + smoothing / classes", "(1 - smoothing) * one_hot + smoothing / (classes - 1)", "(1 - smoothing) * one_hot + (1 - one_hot) * smoothing / (classes - 1)"),
        {"smoothing": r"smooth|^eps(?:ilon)?$", "one_hot": r"one_?hot|^targets?$|^labels?$|^y$", "classes": r"class|vocab|^n_?c$|^K$|size\(|shape\["},
        "Szegedy and others 2016, section 7",
        near=r"smoothing|1(?:\.0)? ?- ?eps",
    ),
    Formula(
        "the structural similarity of pictures",
        ("((2 * mu_1 * mu_2 + c_1) * (2 * both + c_2)) / ((mu_1**2 + mu_2**2 + c_1) * (square_1 + square_2 + c_2))",),
        {"mu_1": r"^mu_?(?:1|x|a)$", "mu_2": r"^mu_?(?:2|y|b)$", "c_1": r"^c_?1$", "c_2": r"^c_?2$", "both": r"^(?:sigma|var|cov)_?(?:12|xy|ab)$", "square_1": r"^(?:sigma|var)_?(?:1|x|a)(?:_?(?:sq|2))?$", "square_2": r"^(?:sigma|var)_?(?:2|y|b)(?:_?(?:sq|2))?$"},
        "Wang and others 2004, equation 13",
        near=r"mu_?[1x]",
    ),
)  # fmt: skip
