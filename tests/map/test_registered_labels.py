"""What decorators file under several words is chosen by the settings that say these words, or words joined with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import read_anatomy

FILES = {
    "names.py": 'class Families:\n    SMALL = "small"\n    LARGE = "large"\n\n    @classmethod\n    def names(cls):\n        return ["small", "large"]\n\n\nclass Phases:\n    FIRST = "first"\n    SECOND = "second"\n',
    "registry.py": """CONFIGS, FAMILY, MODELS, TRAINERS = {}, {}, {}, {}


def register_config(family, arch):
    def keep(fn):
        name = family.lower()
        CONFIGS[arch] = fn
        FAMILY[arch] = name
        return fn
    return keep


def register_model(family):
    def keep(fn):
        for one in family:
            MODELS[one] = fn
        return fn
    return keep


def register_trainer(family, phase):
    def add(families, key, fn):
        for one in families:
            TRAINERS.setdefault(one, {})
            TRAINERS[one][key] = fn

    def keep(fn):
        add(family, phase, fn)
        return fn
    return keep


def family_of(name):
    return FAMILY[name]


def model_of(name):
    return MODELS.get(family_of(name), None)


def trainer_of(args):
    return TRAINERS[family_of(args.arch_name)][args.phase]
""",
    "models.py": """import torch
from names import Families
from registry import register_config, register_model


@register_config("small", "tiny-2b")
def tiny():
    return {}


@register_config("large", "huge-9b")
def huge():
    return {}


class Small(torch.nn.Module):
    def forward(self, x):
        return x


class Large(torch.nn.Module):
    def forward(self, x):
        return x


@register_model(family=[Families.SMALL])
def small_model():
    return Small()


@register_model(family=[Families.LARGE])
def large_model():
    return Large()
""",
    "trainers.py": """import torch
from names import Families, Phases
from registry import model_of, register_trainer


def fit(provider, args, scale):
    made(provider, args, scale)


def made(provider, args, scale):
    built(provider, args, scale)


def built(provider, args, scale):
    run(provider, args, scale)


def run(provider, args, scale):
    model = provider(args.arch_name)()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in [torch.ones(1, 2)]:
        optimizer.zero_grad()
        scale(model(x)).mean().backward()
        optimizer.step()


@register_trainer(family=[Families.SMALL], phase=Phases.FIRST)
def first_small(args):
    fit(model_of, args, lambda x: x)


@register_trainer(family=[Families.SMALL], phase=Phases.SECOND)
def second_small(args):
    fit(model_of, args, lambda x: 2 * x)


@register_trainer(family=[Families.LARGE], phase=Phases.FIRST)
def first_large(args):
    fit(model_of, args, lambda x: x)


@register_trainer(family=[Families.LARGE], phase=Phases.SECOND)
def second_large(args):
    fit(model_of, args, lambda x: 2 * x)
""",
    "train.py": """import argparse

import models
import trainers
from registry import trainer_of

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--arch-name", required=True)
    parser.add_argument("--phase", default="first")
    args = parser.parse_args()
    trainer_of(args)(args)
""",
}


@pytest.mark.parametrize(
    ("words", "trainer", "model", "other"),
    [
        ("--arch-name tiny-2b --phase second", "second_small", "Small", "Large"),
        ("--arch-name huge-9b --phase first", "first_large", "Large", "Small"),
    ],
)
def test_all_words_choose(tmp_path: Path, words: str, trainer: str, model: str, other: str) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    program = read_anatomy(tmp_path, "train.py", f"python train.py {words}").program
    assert program is not None
    reached = {function.qualname for function in program.entry.reach.distance}
    assert reached & {"first_small", "second_small", "first_large", "second_large"} == {trainer}
    assert f"{model}.forward" in reached and f"{other}.forward" not in reached


def test_what_no_setting_says_chooses_nothing(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    program = read_anatomy(tmp_path, "train.py", "python train.py --arch-name unknown --phase second").program
    assert program is not None
    assert not [one for one in program.choices if one.target is not None]
