"""Programs for missing-zero-grad: the check must speak on each of FAILS, and stay silent on each of
SILENT.
"""

FAILS = {
    "cleared in the arm that the run does not take": """
import torch
from torch import nn

def train(model, loader, plain):
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        if plain:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        else:
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
""",
    "another module is cleared than that of the optimizer that a caller made": """
import torch
from torch import nn

def pretrain(head, body, loader, optimizer):
    for x, z in loader:
        features = body(x)
        head.zero_grad()
        nn.functional.cross_entropy(head(features), z).backward()
        optimizer.step()

def main(loader):
    body_i, head_i = nn.Linear(8, 4), nn.Linear(4, 2)
    optimizer_i = torch.optim.SGD(body_i.parameters(), lr=0.1)
    for epoch in range(10):
        pretrain(head_i, body_i, loader, optimizer_i)
    torch.save(head_i, "head.pt")
""",
    "names that clear elsewhere, here of a library": """
# file: helpers.py
def step(optimizer):
    optimizer.zero_grad()
    optimizer.step()

def transform(optimizer):
    optimizer.zero_grad()
# file: tests/test_helpers.py
from helpers import step

def model(optimizer):
    optimizer.zero_grad()
# file: example.py
import torch
import helpers
from torchvision.transforms import Compose, Resize
from transformers import AutoModel

transform = Compose([Resize(224)])
model = AutoModel.from_pretrained("base")
criterion = torch.nn.MSELoss()
optimizer = torch.optim.Adam(list(model.parameters()) + [], lr=1e-4)
for x, y in torch.utils.data.DataLoader(helpers.data):
    loss = criterion(model(transform(x)), y)
    loss.backward()
    optimizer.step()
""",
    "script without functions": """
import torch
from data import loader
from torch import nn, optim

model = nn.Linear(2, 1)
optimizer = optim.Adam(model.parameters())
for epoch in range(3):
    for x, y in loader:
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
""",
    "second of two optimizers": """
import torch
from torch import nn

def train(netG, netD, loader):
    optimizer_G = torch.optim.Adam(netG.parameters())
    optimizer_D = torch.optim.Adam(netD.parameters())
    for x in loader:
        optimizer_G.zero_grad()
        netD(netG(x)).mean().backward()
        optimizer_G.step()
        netD(x).mean().backward()
        optimizer_D.step()
""",
    "step under a condition": """
import torch

def train(model, loader, k):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, x in enumerate(loader):
        model(x).mean().backward()
        if i % k == 0:
            opt.step()
""",
    "cleared in the other arm only": """
import torch

def train(model, loader, use_amp, scaler):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        if use_amp:
            optimizer.zero_grad()
            scaler.scale(model(x).mean()).backward()
            scaler.step(optimizer)
            scaler.update()
        else:
            loss = model(x).mean()
            loss.backward()
            optimizer.step()
""",
    "scaler steps the optimizer": """
import torch
from torch.cuda.amp import GradScaler

def train(model, loader):
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = GradScaler()
    for x in loader:
        scaler.scale(model(x).mean()).backward()
        scaler.step(optimizer)
        scaler.update()
""",
    "trainer class, loop in another method": """
import torch

class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def _update(self, loss):
        loss.backward()
        self.optimizer.step()

    def fit(self, loader):
        for x in loader:
            self._update(self.model(x).mean())
""",
    "optimizer from a factory in another file": """
# file: optimizers.py
import torch

def get_optimizer(model, name):
    if name == "sgd":
        return torch.optim.SGD(model.parameters(), lr=0.1)
    return torch.optim.Adam(model.parameters())
# file: train.py
from optimizers import get_optimizer

def train(model, loader, args):
    optim = get_optimizer(model, args.optim)
    while True:
        loss = model(next(loader)).mean()
        loss.backward()
        optim.step()
""",
    "closure that does not clear": """
import torch

def fit(x, target):
    optimizer = torch.optim.LBFGS([x.requires_grad_()])
    for _ in range(10):
        def closure():
            loss = ((x - target) ** 2).mean()
            loss.backward()
            return loss
        optimizer.step(closure)
""",
    "cleared before the loop only": """
import torch

def train(model, loader):
    optimizer = torch.optim.RMSprop(model.parameters())
    optimizer.zero_grad()
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
""",
    "optimizer made from a configuration": """
import hydra
import torch

def main(cfg, model, loader):
    optimizer = hydra.utils.instantiate(cfg.optimizer, model.parameters())
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
""",
    "another module is cleared": """
import torch
from torch import nn

class Generator(nn.Linear):
    pass

class Critic(nn.Linear):
    pass

def train(loader):
    generator = Generator(2, 2)
    critic = Critic(2, 1)
    opt_critic = torch.optim.Adam(critic.parameters())
    for x in loader:
        generator.zero_grad()
        critic(generator(x)).mean().backward()
        opt_critic.step()
    return critic
""",
    "prepared by a launcher": """
import torch
from accelerate import Accelerator

def main(model, loader):
    accelerator = Accelerator()
    optimizer = torch.optim.AdamW(model.parameters())
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x in loader:
        loss = model(x).loss
        accelerator.backward(loss)
        optimizer.step()
""",
}

SILENT = {
    "cleared in the first of several micro-batches, stepped in the last": """
import torch
from torch import nn

def train(model, loader, accumulate):
    optimizer = torch.optim.Adam(model.parameters())
    for i, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(x), y) / accumulate
        if i % accumulate == 0:
            optimizer.zero_grad()
            loss.backward()
        elif i % accumulate == accumulate - 1:
            loss.backward()
            optimizer.step()
        else:
            loss.backward()
""",
    "the module is cleared, and a caller made the optimizer over it under another name": """
import torch
from torch import nn

def pretrain(head, body, loader, optimizer):
    for x, z in loader:
        features = body(x).detach()
        head.zero_grad()
        nn.functional.cross_entropy(head(features), z).backward()
        optimizer.step()

def main(loader):
    body_i, head_i = nn.Linear(8, 4), nn.Linear(4, 2)
    optimizer_i = torch.optim.SGD(head_i.parameters(), lr=0.1)
    for epoch in range(10):
        pretrain(head_i, body_i, loader, optimizer_i)
    torch.save(head_i, "head.pt")
""",
    "a stop-watch": """
from timeit import default_timer
import torch

def measure(model, rounds, batches):
    times = []
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(rounds):
        start = default_timer()
        model(next(batches)).mean().backward()
        optimizer.step()
        times.append(default_timer() - start)
    return sum(times) / rounds
""",
    "the optimizer owns the object, whose network is cleared": """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)
        self.opt = torch.optim.SGD(self.parameters(), lr=0.1)
    def observe(self, batches):
        for x, y in batches:
            self.net.zero_grad()
            nn.functional.cross_entropy(self.net(x), y).backward()
            self.opt.step()
Net().observe([])
""",
    "the optimizer owns the network, and the whole object is cleared": """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
    def observe(self, batches):
        for x, y in batches:
            nn.functional.cross_entropy(self.net(x), y).backward()
            self.opt.step()
            self.zero_grad()
Net().observe([])
""",
    "a constant says one round": """
import argparse
import torch
from torch import nn
p = argparse.ArgumentParser()
p.add_argument("--lr", type=float, default=0.1)
args = p.parse_args()
N_STEPS = 1
model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=args.lr)
x, y = torch.load("data.pt")
for step in range(N_STEPS):
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    opt.step()
torch.save(model.state_dict(), "m.pt")
""",
    "the first batch only": """
import itertools
import torch
def sanity(model, loader):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in itertools.islice(loader, 1):
        model(x).mean().backward()
        opt.step()
    return model
""",
    "a list of one batch": """
import torch
def sanity(model, x):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in [x]:
        model(batch).mean().backward()
        opt.step()
    return model
""",
    "an optimizer over the parts that two others clear": """
import itertools
import torch

class Gan:
    def __init__(self, g, d):
        self.g, self.d = g, d
        self.g_optimizer = torch.optim.Adam(self.g.parameters())
        self.d_optimizer = torch.optim.Adam(self.d.parameters())
        self.both = torch.optim.Adam(itertools.chain(self.g.parameters(), self.d.parameters()))

    def train(self, loader):
        for x in loader:
            self.d_optimizer.zero_grad()
            self.d(x).mean().backward()
            self.d_optimizer.step()
            self.g_optimizer.zero_grad()
            self.d(self.g(x)).mean().backward(retain_graph=True)
            self.g_optimizer.step()
            self.d(self.g(x)).pow(2).mean().backward()
            self.both.step()
""",
    "usual order": """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad(set_to_none=True)
        model(x).mean().backward()
        optimizer.step()
""",
    "after the step": """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        model(x).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
""",
    "closure": """
import torch

def fit(x, target):
    optimizer = torch.optim.LBFGS([x])
    for _ in range(10):
        def closure():
            optimizer.zero_grad()
            loss = ((x - target) ** 2).mean()
            loss.backward()
            return loss
        optimizer.step(closure)
""",
    "helper in another file": """
# file: helpers.py
def optimize(loss, opt):
    opt.zero_grad()
    loss.backward()
    opt.step()
# file: train.py
import torch
from helpers import optimize

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        optimize(model(x).mean(), optimizer)
""",
    "handed over as a callback": """
import torch

def train(model, loader, run_hooks):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        run_hooks(before=optimizer.zero_grad)
        model(x).mean().backward()
        optimizer.step()
""",
    "gradients set to None by hand": """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        for p in model.parameters():
            p.grad = None
        model(x).mean().backward()
        optimizer.step()
""",
    "gradients zeroed in place": """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        model(x).mean().backward()
        optimizer.step()
        for p in model.parameters():
            if p.grad is not None:
                p.grad.data.zero_()
""",
    "module.zero_grad": """
import torch

def train(netD, loader):
    optimizerD = torch.optim.Adam(netD.parameters())
    for x in loader:
        netD.zero_grad()
        netD(x).mean().backward()
        optimizerD.step()
""",
    "accumulation under a modulo": """
import torch

def train(model, loader, n):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.zero_grad()
    for i, x in enumerate(loader):
        (model(x).mean() / n).backward()
        if (i + 1) % n == 0:
            optimizer.step()
            optimizer.zero_grad()
""",
    "trainer methods": """
import torch

class Trainer:
    def __init__(self, model):
        self.model = model
        self.optim = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def zero(self):
        self.optim.zero_grad()

    def update(self, loss):
        loss.backward()
        self.optim.step()

    def fit(self, loader):
        for x in loader:
            self.zero()
            self.update(self.model(x).mean())
""",
    "distributed autograd": """
import torch.distributed.autograd as dist_autograd
from torch import optim
from torch.distributed.optim import DistributedOptimizer

def train(model, loader):
    opt = DistributedOptimizer(optim.SGD, model.parameter_rrefs(), lr=0.05)
    for x in loader:
        with dist_autograd.context() as context_id:
            loss = model(x).sum()
            dist_autograd.backward(context_id, [loss])
            opt.step(context_id)
""",
    "schedulers and environments step too": """
import torch

def train(model, env, agent, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    for x in loader:
        state, reward = env.step(agent.act(x))
        optimizer.zero_grad()
        model(state).mean().backward()
        optimizer.step()
        scheduler.step()
""",
    "wrapper that clears in its own step": """
import torch

class ScheduledOptim:
    def __init__(self, optimizer):
        self._optimizer = optimizer

    def step_and_clear(self):
        self._optimizer.step()
        self._optimizer.zero_grad()

def train(model, loader):
    optimizer = ScheduledOptim(torch.optim.Adam(model.parameters()))
    for x in loader:
        model(x).mean().backward()
        optimizer.step_and_clear()
""",
    "list of optimizers": """
import torch

def train(models, loader):
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in models]
    for x in loader:
        for opt in optimizers:
            opt.zero_grad()
        sum(m(x).mean() for m in models).backward()
        for opt in optimizers:
            opt.step()
""",
    "one loss and one optimizer for each name": """
import torch

def train(nets, loader):
    opts = {name: torch.optim.SGD(net.parameters(), lr=0.1) for name, net in nets.items()}
    for x in loader:
        for opt in opts.values():
            opt.zero_grad()
        for name, net in nets.items():
            net(x).mean().backward()
            opts[name].step()
""",
    "pairs of loss and optimizer": """
import torch

def train(a, b, loader):
    optimizers = [torch.optim.SGD(a.parameters(), lr=0.1), torch.optim.SGD(b.parameters(), lr=0.1)]
    for x in loader:
        for optimizer in optimizers:
            optimizer.zero_grad()
        for loss, optimizer in zip([a(x).mean(), b(x).mean()], optimizers):
            loss.backward()
            optimizer.step()
""",
    "two optimizers, each cleared where it is used": """
import torch

def train(netG, netD, loader, k):
    optG = torch.optim.Adam(netG.parameters())
    optD = torch.optim.Adam(netD.parameters())
    for i, x in enumerate(loader):
        optD.zero_grad()
        netD(x).mean().backward()
        optD.step()
        if i % k == 0:
            optG.zero_grad()
            netD(netG(x)).mean().backward()
            optG.step()
""",
    "gradients asked for without backward": """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    params = list(model.parameters())
    for x in loader:
        grads = torch.autograd.grad(model(x).mean(), params)
        for p, g in zip(params, grads):
            p.grad = g
        optimizer.step()
""",
    "a single step": """
import torch

def one_step(model, x):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(x).mean().backward()
    optimizer.step()
""",
    "optimizer made anew for each round": """
import torch

def train(make_model, loader):
    for x in loader:
        model = make_model()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(x).mean().backward()
        optimizer.step()
""",
    "alias of the attribute": """
import torch

class Agent:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())

    def learn(self, batches):
        for b in batches:
            opt = self.optimizer
            opt.zero_grad()
            self.net(b).mean().backward()
            self.optimizer.step()
""",
    "clearing left to a function that is not in the project": """
import torch
from toolkit import update

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        model(x).mean().backward()
        optimizer.step()
        update(optimizer)
""",
    "pairs of loss and optimizer, cleared in a loop before": """
import torch
from torch import nn

def train(a: nn.Linear, b: nn.Linear, loader):
    optimizers = [torch.optim.SGD(a.parameters(), lr=0.1), torch.optim.SGD(b.parameters(), lr=0.1)]
    for x in loader:
        for optimizer in optimizers:
            optimizer.zero_grad()
        for loss, optimizer in zip([a(x).mean(), b(x).mean()], optimizers):
            loss.backward()
            optimizer.step()
""",
    "a benchmark of one layer": """
import time
import torch
from torch import nn

def test_speed(size):
    layer = nn.Linear(size, size)
    optimizer = torch.optim.Adam(layer.parameters())
    x = torch.ones(4, size)
    start = time.time()
    for i in range(1000):
        layer(x).pow(2).mean().backward()
        optimizer.step()
    print((time.time() - start) / 1000)
""",
    "an optimizer around another one": """
import torch
from torch import nn

class Natural(torch.optim.Optimizer):
    def __init__(self, net, lr):
        super().__init__(net.parameters(), {})
        self.inner = torch.optim.SGD(net.parameters(), lr=lr)

    def step(self):
        self.inner.step()

def train(net, loader):
    optimizer = Natural(net, 0.1)
    for x in loader:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
""",
    "a closure that steps and clears, under another name": """
import torch

def get_train_op(params=None, optimizer=None, scheduler=None):
    if scheduler is None:
        if optimizer is None and params is not None:
            optimizer = torch.optim.Adam(params)
        if optimizer is not None:
            scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    else:
        optimizer = scheduler.optimizer

    def _train_op():
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        optimizer.zero_grad()

    return _train_op

def main(model, loader):
    train_op = get_train_op(model.parameters())

    def epoch(mode):
        for batch in loader:
            loss = model(batch)
            if mode == "train":
                loss.backward()
                train_op()
    epoch("train")
""",
    "cleared where the answers to messages are sent": """
import torch

class Server:
    def __init__(self, policy, queue):
        self.policy, self.queue = policy, queue
        self.optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
        self.handlers = {"broadcast": self.broadcast, "feedback": self.feedback}

    def broadcast(self, message):
        self.optimizer.zero_grad()
        self.theta = self.policy(message)

    def feedback(self, message):
        loss = -(message * self.theta.log()).sum()
        loss.backward()
        self.optimizer.step()

    def run(self):
        while self.queue:
            kind, message = self.queue.popleft()
            self.feedback(message)
            self.handlers[kind](message)
""",
    "a parameter without values, to draw a schedule": """
import torch

p = torch.nn.Parameter(torch.zeros(0))
optimizer = torch.optim.SGD([p], lr=5)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
rates = []
for step in range(100):
    p.sum().backward()
    optimizer.step()
    rates.append(optimizer.param_groups[0]["lr"])
    scheduler.step()
""",
    "a file that measures how fast training is": """
# file: training-benchmark.py
import torch
from timing import Timer

def main(model, loader, batches):
    optimizer, timer = torch.optim.SGD(model.parameters(), lr=0.1), Timer()
    for count, x in enumerate(loader):
        if count == 10:
            timer.start_profiling()
        model(x).mean().backward()
        optimizer.step()
        if count == batches:
            break
    timer.display()
""",
    "left after one step": """
import torch
def one_step(model, loader):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        opt.step()
        break
    return model
""",
    "a hook after each step": """
import torch
def train(model, loader):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    opt.register_step_post_hook(lambda o, a, k: o.zero_grad())
    for x, y in loader:
        torch.nn.functional.mse_loss(model(x), y).backward()
        opt.step()
""",
    "a schedule drawn with made-up numbers": """
import torch
from torch import nn
import matplotlib.pyplot as plt
def plot_lr():
    model = nn.Linear(2, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 100)
    rates = []
    for _ in range(100):
        loss = model(torch.randn(1, 2)).sum()
        loss.backward()
        opt.step()
        sched.step()
        rates.append(opt.param_groups[0]["lr"])
    plt.plot(rates)
""",
    "memory measured on made-up numbers": """
import torch
from torch import nn
def peak_memory(model, batch_sizes):
    opt = torch.optim.Adam(model.parameters())
    out = []
    for b in batch_sizes:
        torch.cuda.reset_peak_memory_stats()
        loss = model(torch.randn(b, 3, 224, 224).cuda()).sum()
        loss.backward()
        opt.step()
        out.append(torch.cuda.max_memory_allocated())
    return out
""",
    "two rounds": """
import torch
def init_states(model, opt, x):
    for _ in range(2):
        model(x).sum().backward()
        opt.step()
""",
    "cleared by setattr": """
import torch
def train(model, loader):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        [setattr(p, "grad", None) for p in model.parameters()]
        torch.nn.functional.mse_loss(model(x), y).backward()
        opt.step()
""",
    "cleared by _foreach_zero_": """
import torch
def train(model, loader):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        torch.nn.functional.mse_loss(model(x), y).backward()
        opt.step()
        torch._foreach_zero_([p.grad for p in model.parameters()])
""",
    "cleared by fill_": """
import torch
def train(x0, steps):
    x = x0.clone().requires_grad_(True)
    opt = torch.optim.Adam([x])
    for _ in range(steps):
        (x ** 2).sum().backward()
        opt.step()
        x.grad.fill_(0)
""",
    "nothing uses the model": """
import torch
from data import load
from models import build

def main():
    model, loss_fn = build(), torch.nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters())
    for count, (x, y) in enumerate(load()):
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        print(count)
""",
    "zero_grad under another name": """
import torch
def train(model, loader):
    optimizer = torch.optim.AdamW(model.parameters())
    clear = optimizer.zero_grad
    for x in loader:
        clear()
        model(x).mean().backward()
        optimizer.step()
    torch.save(model, "model.pt")
""",
    "gradients that decay on purpose": """
import torch
def train(model, loader, beta):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        model(x).mean().backward()
        optimizer.step()
        for p in model.parameters():
            p.grad.mul_(beta)
    torch.save(model, "model.pt")
""",
    "a helper makes model and optimizer anew": """
import torch
def build(kind):
    model = torch.nn.Linear(2, 2)
    return model, kind(model.parameters(), lr=0.1)
def compare(x):
    models = []
    for kind in (torch.optim.SGD, torch.optim.Adam):
        model, optimizer = build(kind)
        model(x).sum().backward()
        optimizer.step()
        models.append(model)
    torch.save(models, "models.pt")
""",
    "two closures of one name": """
import torch
def train(a, b, loader):
    first, second = torch.optim.LBFGS(a.parameters()), torch.optim.LBFGS(b.parameters())
    for x in loader:
        def closure():
            first.zero_grad()
            loss = a(x).mean()
            loss.backward()
            return loss
        first.step(closure)
        def closure():
            second.zero_grad()
            loss = b(x).mean()
            loss.backward()
            return loss
        second.step(closure)
""",
    "a callback that is found by its name": """
import torch
class Clear:
    def __init__(self, learner):
        self.learner = learner
    def after_step(self):
        self.learner.optimizer.zero_grad()
class Learner:
    def __init__(self, model, callbacks):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.callbacks = [one(self) for one in callbacks]
    def __call__(self, name):
        for one in self.callbacks:
            getattr(one, name)()
    def fit(self, loader):
        for x in loader:
            self.model(x).mean().backward()
            self.optimizer.step()
            self("after_step")
""",
    "leaving a with statement": """
import torch
class Clean:
    def __init__(self, optimizer):
        self.optimizer = optimizer
    def __enter__(self):
        return self
    def __exit__(self, *error):
        self.optimizer.zero_grad()
def fit(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        with Clean(optimizer):
            model(x).mean().backward()
            optimizer.step()
    torch.save(model, "model.pt")
""",
    "kept in a lambda, a list and a partial": """
import torch
from functools import partial
def clear(optimizer):
    optimizer.zero_grad()
def first(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = lambda: optimizer.zero_grad()
    for x in loader:
        before()
        model(x).mean().backward()
        optimizer.step()
    torch.save(model, "first.pt")
def second(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    hooks = {"before": [optimizer.zero_grad]}
    for x in loader:
        for hook in hooks["before"]:
            hook()
        model(x).mean().backward()
        optimizer.step()
    torch.save(model, "second.pt")
def third(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = partial(clear, optimizer)
    for x in loader:
        before()
        model(x).mean().backward()
        optimizer.step()
    torch.save(model, "third.pt")
""",
    "between the batches of a generator": """
import torch
def batches(loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        yield x
def fit(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in batches(loader, optimizer):
        model(x).mean().backward()
        optimizer.step()
    torch.save(model, "model.pt")
""",
}
