"""Passwords and keys are in no answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from trainsleuth.map import expand_component, map_repository
from trainsleuth.secrets import hide, hide_all

HELD = (
    "hunter2",
    "wJalrXUtnFEMI",
    "AKIAIOSFODNN7EXAMPLE",
    "hf_abcdefghijklmnopqrstuvwxyz012345",
    "pa55w0rd",
    "0123456789abcdef",
)


@pytest.mark.parametrize(
    "line",
    [
        'p.add_argument("--api-key", default="hunter2")',
        "password: hunter2",
        "HF_TOKEN='hunter2'",
        'wandb.login(key=key, api_key="hunter2")',
        '{"db_password": "hunter2"}',
        "export WANDB_API_KEY=hunter2; python train.py",
        "secret_access_key = hunter2 (conf.yaml:3)",
        "url: postgres://user:hunter2@db/x",
        'TOKEN = "hf_abcdefghijklmnopqrstuvwxyz012345"',
        "login(AKIAIOSFODNN7EXAMPLE)",
    ],
)
def test_a_value_is_hidden_and_the_text_never_grows(line: str) -> None:
    shown = hide(line)
    assert not any(one in shown for one in HELD)
    assert len(shown) <= len(line) and shown != line


@pytest.mark.parametrize(
    "line",
    [
        'pad_token = "<pad>"; token = decode(password)',
        "num_tokens: 512",
        "eos_token: </s>",
        "api_key=os.environ['KEY']",
        "password: Optional[str] = None",
        "hf_token: null",
        "token = batch.tokens[0]",
        "see https://example.org/a:b@c",
        "f(api_key, model_name)",
    ],
)
def test_code_and_words_stay(line: str) -> None:
    assert hide(line) == line


def test_data_are_hidden_by_the_name_beside_them() -> None:
    plain = {"key": "aws.secret_access_key", "value": "x9", "layers": [{"value": "x9"}], "path": "c.yaml"}
    assert hide_all(plain) == {**plain, "value": "<hidden>", "layers": [{"value": "<hidden>"}]}
    assert hide_all({"password": "x9", "lr": "0.1"}) == {"password": "<hidden>", "lr": "0.1"}


def test_no_answer_of_the_map_holds_what_a_configuration_keeps_secret(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(
        "lr: 0.1\nwandb_api_key: 0123456789abcdef0123456789abcdef01234567\n"
        "aws: {access_key_id: AKIAIOSFODNN7EXAMPLE, secret_access_key: wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY}\n"
        "hf_token: hf_abcdefghijklmnopqrstuvwxyz012345\npassword: hunter2\ndb: postgres://user:pa55w0rd@db.example/x\n"
    )
    (tmp_path / "main.py").write_text(
        "import yaml, torch, wandb\ncfg = yaml.safe_load(open('config.yaml'))\nwandb.login(key=cfg['wandb_api_key'])\n"
        "TOKEN = 'hf_abcdefghijklmnopqrstuvwxyz012345'\nm = torch.nn.Linear(3, 2)\n"
        "opt = torch.optim.SGD(m.parameters(), lr=cfg['lr'])\nfor x in data:\n    m(x).mean().backward()\n    opt.step()\n"
        "m.push_to_hub('x', token=TOKEN, password=cfg['password'])\n"
    )
    asked = (
        "config",
        "run",
        "find token",
        "find password",
        "lines key",
        "open config.yaml",
        "ask what is the password?",
    )
    answers = [expand_component(tmp_path, one).to_dict() for one in asked] + [map_repository(tmp_path).to_dict()]
    for answer in answers:
        assert not [one for one in HELD if one in json.dumps(answer)]
