"""Small repositories for the depth of the map: each configures its training in another way."""

from __future__ import annotations

from pathlib import Path

STEP = """
for step in range(10):
    loss = net(torch.ones(1, 2)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
GLOBALS = {
    "train.py": "import torch\n\nbatch_size = 12\nlearning_rate = 6e-4\nmax_iters = 100\nseed = 1\naccum = 5 * 8\n"
    "exec(open('configurator.py').read())\naccum //= 2\ntorch.manual_seed(seed)\n"
    "net = torch.nn.Linear(2, batch_size)\nopt = torch.optim.Adam(net.parameters(), lr=learning_rate)\n"
    "best = 1e9\nwhile best > 0:\n    best = best - max_iters / accum\n" + STEP,
    "configurator.py": "import sys\n\nfor one in sys.argv[1:]:\n    exec(open(one).read())\n",
    "config/small.py": "batch_size = 64\nlearning_rate = 1e-3\n",
    "README.md": "```\npython train.py config/small.py --max_iters=7\n```\n",
}
OPTIONS = {
    "train.py": "import argparse\nimport json\n\nimport torch\n\n\ndef main():\n    parser = argparse.ArgumentParser()\n"
    '    parser.add_argument("--lr", type=float, default=0.1, help="peak learning rate")\n'
    '    parser.add_argument("--batch-size", type=int, default=8)\n'
    '    parser.add_argument("--warmup", type=int, default=3)\n'
    '    parser.add_argument("--amp", action="store_true")\n'
    '    parser.add_argument("--config", default="config.json")\n'
    "    args = parser.parse_args()\n    cfg = json.load(open(args.config))\n"
    "    if args.amp:\n        args.batch_size = args.batch_size * 2\n"
    "    net = torch.nn.Linear(args.batch_size, cfg['model']['width'])\n"
    "    opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=cfg['optim']['momentum'])\n"
    "    criterion = torch.nn.CrossEntropyLoss()\n"
    "    for step in range(10):\n        x, y = torch.ones(1, 8), torch.zeros(1).long()\n"
    "        logits = net(x)\n        loss = criterion(logits.softmax(-1), y)\n"
    "        opt.zero_grad()\n        loss.backward()\n        opt.step()\n"
    "        if step % cfg['save']['every'] == 0:\n            torch.save(net.state_dict(), 'net.pt')\n\n\n"
    'if __name__ == "__main__":\n    main()\n',
    "config.json": '{"model": {"width": 4}, "optim": {"momentum": 0.9, "nesterov_power": 2},\n "save": {"every": 5}}\n',
    "run.sh": "LR=3e-4\npython train.py --lr $LR --config config.json\n",
}
SECTIONS = {
    "cli/train.py": "import torch\nfrom lib.root import Root\nfrom lib.models import MODELS\n\n\ndef main(cfg: Root):\n"
    "    net = MODELS[cfg.model._name](cfg.model)\n"
    "    opt = torch.optim.Adam(net.parameters(), lr=cfg.optimization.lr)\n"
    "    for step in range(cfg.optimization.max_update):\n        loss = net(torch.ones(1, 2)).sum()\n"
    "        opt.zero_grad()\n        loss.backward()\n"
    "        torch.nn.utils.clip_grad_norm_(net.parameters(), cfg.optimization.clip_norm)\n        opt.step()\n\n\n"
    'if __name__ == "__main__":\n    main(Root())\n',
    "lib/__init__.py": "",
    "lib/root.py": "from dataclasses import dataclass, field\nfrom typing import Any\n\n\n@dataclass\nclass OptimizationConfig:\n"
    "    lr: float = 0.25\n    clip_norm: float = 0.0\n    max_update: int = 0\n\n\n@dataclass\nclass Root:\n"
    "    optimization: OptimizationConfig = field(default_factory=OptimizationConfig)\n    model: Any = None\n",
    "lib/models.py": "from dataclasses import dataclass\n\nimport torch\nfrom omegaconf import II\n\nMODELS = {}\n\n\n"
    "def register_model(name, dataclass):\n    def keep(cls):\n        MODELS[name] = cls\n        return cls\n\n    return keep\n\n\n"
    "@dataclass\nclass SmallConfig:\n    width: int = 3\n    rate: float = II('optimization.lr')\n\n\n"
    "@dataclass\nclass LargeConfig:\n    width: int = 300\n    depth_of_large: int = 12\n\n\n"
    '@register_model("small", dataclass=SmallConfig)\nclass Small(torch.nn.Module):\n    def __init__(self, cfg):\n'
    "        super().__init__()\n        self.fc = torch.nn.Linear(2, cfg.width)\n\n    def forward(self, x):\n        return self.fc(x)\n\n\n"
    '@register_model("large", dataclass=LargeConfig)\nclass Large(torch.nn.Module):\n    def forward(self, x):\n        return x\n',
    "recipes/base.yaml": "optimization:\n  lr: 0.0005\n  max_update: 400\nmodel:\n  _name: small\n",
    "README.md": "```\npython cli/train.py --config-name other --optimization.lr 9\n```\n",
}
BASES = {
    "tools/train.py": "import sys\n\nfrom mmengine.config import Config\nfrom mmengine.runner import Runner\n\n\ndef main():\n"
    "    cfg = Config.fromfile(sys.argv[1])\n    runner = Runner.from_cfg(cfg)\n    runner.train()\n\n\n"
    'if __name__ == "__main__":\n    main()\n',
    "nets/heads.py": "import torch\nfrom mmengine.registry import MODELS\n\n\n@MODELS.register_module()\nclass Head(torch.nn.Module):\n"
    "    def forward(self, x):\n        return x\n\n\n@MODELS.register_module()\nclass Other(torch.nn.Module):\n"
    "    def forward(self, x):\n        return x\n",
    "configs/_base_/schedule.py": "optim_wrapper = dict(optimizer=dict(type='SGD', lr=0.01, momentum=0.9))\ntrain_cfg = dict(max_epochs=100)\n",
    "configs/head.py": "_base_ = ['./_base_/schedule.py']\nkind = 'Head'\nmodel = dict(head=dict(type=kind, width=7))\n"
    "optim_wrapper = dict(optimizer=dict(lr=0.02))\n",
}


def write(files: dict[str, str], root: Path) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root
