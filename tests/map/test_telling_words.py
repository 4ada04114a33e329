"""The word by which the map shows a line of source for which it has no room."""

from __future__ import annotations

import pytest
from trainsleuth.map.drawing.brief import WIDTH, word_of
from trainsleuth.map.records import Place


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("class Net(nn.Module):", "Net"),
        ("async def train_step(self):", "train_step"),
        ("for _ in range(self.grad_every):", "for grad_every"),
        ("for i, (images, labels) in enumerate(loader):", "for images"),
        ("for i in loop_cloth:", "for loop_cloth"),
        ("if iter_num % eval_interval == 0 and master:", "if eval_interval"),
        ("if (step + 1) % args.every == 0:", "if every"),
        ("if not isinstance(masks, list):", "if masks"),
        ("if not self.cfg.resume:", "if not resume"),
        ("while True:", "while True"),
        ("if (", "if"),
        ('if __name__ == "__main__":', "if __name__"),
        ("wandb_run = 'gpt2' # 'run' + str(time.time())", "wandb_run"),
        ("dtype = 'bf16' if torch.cuda.is_bf16() else 'half' # or str(x)", "dtype"),
        ("net = build(cfg) if cfg.fresh() else load(cfg.path)", "build"),
        ("marker = '#' + str(number)  # of calls(here)", "marker"),
        ("loss_jepa, loss_reg = 0., 0.", "loss_jepa"),
        ("optimizer, mode='min', factor=0.1,", "optimizer"),
        ("B, N = x.size()", "size"),
        ("super().__init__()", "__init__"),
        ("lr=float(config['optimizer'].get('lr', 1e-4)))", "lr"),
        ("ratio = float(x)", "ratio"),
        ("group['rate'] = lr", "rate"),
        ("self.losses['D-loss'] = loss.mean().item()", "losses"),
        ("summary += sc", "summary"),
        ("loss = criterion(outputs, labels)", "criterion"),
        ("scaler.scale(loss).backward()", "backward"),
        ("m = next(momentum_scheduler)", "momentum_schedu…"),
        ("python -m app.main --fname configs/a.yaml", "main"),
        ("CUDA_VISIBLE_DEVICES=0 python tools/train_net.py --lr 0.1", "train_net.py"),
        ("save_every: 5  # epochs(all)", "save_every"),
        ("return loss", "loss"),
        ("x = net(first, checkpo…", "net"),
        ("config['a'] = 1 # for GPT model chec…", "config"),
        ("- 0.998", "the role"),
        ("75", "the role"),
    ],
)
def test_the_word_of_a_line(line: str, word: str) -> None:
    assert word_of(Place("train.py", 1, "the role", 1.0, line)) == word
    assert len(word) <= WIDTH
