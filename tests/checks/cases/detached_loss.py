"""Programs for detached-loss: the check must speak on each of FAILS, and stay silent on each of SILENT."""

HEAD = """
import torch
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)

model = Net()
criterion = nn.MSELoss()
"""

FAILS = {
    "item wrapped in a tensor": HEAD
    + """
def train(loader):
    for x, y in loader:
        loss = criterion(model(x), y).item()
        loss = torch.tensor(loss, requires_grad=True)
        loss.backward()
""",
    "detach and requires_grad_": HEAD
    + """
def train(loader):
    for x, y in loader:
        loss = criterion(model(x), y)
        loss = loss.detach().requires_grad_(True)
        loss.backward()
""",
    "data in a Variable": HEAD
    + """
from torch.autograd import Variable

def train(loader):
    for x, y in loader:
        loss = criterion(model(x), y)
        loss = Variable(loss.data, requires_grad=True)
        loss.backward()
""",
    "flag set on the attribute": HEAD
    + """
def train(loader):
    for x, y in loader:
        loss = torch.as_tensor(criterion(model(x), y).detach())
        loss.requires_grad = True
        loss.backward()
""",
    "through numpy": HEAD
    + """
import numpy as np

def train(loader):
    for x, y in loader:
        pred = model(x).detach().numpy()
        loss = torch.tensor(np.mean((pred - y.numpy()) ** 2), requires_grad=True)
        loss.backward()
""",
    "computed without gradients": HEAD
    + """
def train(loader):
    for x, y in loader:
        with torch.no_grad():
            loss = criterion(model(x), y)
        loss.requires_grad_()
        loss.backward()
""",
    "prediction copied into a new tensor": HEAD
    + """
def train(loader):
    for x, y in loader:
        outputs = model(x)
        outputs = torch.tensor(outputs, requires_grad=True)
        loss = criterion(outputs, y)
        loss.backward()
""",
    "helper in another file gives a number": """
# file: losses.py
import torch.nn.functional as F

def compute_loss(model, x, y):
    loss = F.cross_entropy(model(x), y)
    return loss.item()
# file: train.py
import torch
from losses import compute_loss

def train(model, loader):
    for x, y in loader:
        loss = torch.tensor(compute_loss(model, x, y), requires_grad=True)
        loss.backward()
""",
    "sum of items": HEAD
    + """
def train(loader):
    for x, y in loader:
        total = 0
        for head in (model, model):
            total += criterion(head(x), y).item()
        total = torch.tensor(total, requires_grad=True)
        total.backward()
""",
    "handed to an accelerator": HEAD
    + """
def train(loader, accelerator):
    for x, y in loader:
        loss = criterion(model(x), y)
        accelerator.backward(loss.detach().requires_grad_())
""",
    "every term is cut": HEAD
    + """
def train(loader):
    for x, y in loader:
        pred = model(x)
        loss = F.mse_loss(pred.detach(), y) + 0.1 * pred.abs().mean().item()
        loss.requires_grad = True
        loss.backward()
""",
}

SILENT = {
    "plain": HEAD
    + """
def train(loader):
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        print(loss.item(), float(loss), loss.detach())
""",
    "teacher": HEAD
    + """
teacher = Net()

def train(loader):
    for x, _ in loader:
        with torch.no_grad():
            target = teacher(x)
        loss = criterion(model(x), target)
        loss.backward()
""",
    "discriminator on a detached fake": HEAD
    + """
generator = Net()

def train(loader):
    for x, y in loader:
        fake = generator(x).detach()
        loss = F.binary_cross_entropy_with_logits(model(fake), y)
        loss.backward()
""",
    "running total for the log": HEAD
    + """
def train(loader):
    total = 0.0
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        total += loss.item()
    return total / len(loader)
""",
    "straight-through": HEAD
    + """
def train(loader):
    for x, y in loader:
        soft = model(x)
        hard = (soft > 0).float()
        out = hard - soft.detach() + soft
        loss = criterion(out, y)
        loss.backward()
""",
    "commitment term beside a stopped one": HEAD
    + """
codebook = nn.Embedding(8, 4)

def train(loader, encoder):
    for x, _ in loader:
        z = encoder(x)
        q = codebook(z.argmax(1))
        loss = F.mse_loss(q.detach(), z) + F.mse_loss(q, z.detach())
        loss.backward()
""",
    "adversarial input": HEAD
    + """
def attack(x, y):
    x = x.clone().detach().requires_grad_(True)
    loss = criterion(model(x), y)
    loss.backward()
    return x + 0.1 * x.grad.sign()
""",
    "gradient cache": HEAD
    + """
def train(loader):
    for x, y in loader:
        cached = model(x).detach().requires_grad_()
        loss = criterion(cached, y)
        loss.backward()
        model(x).backward(gradient=cached.grad)
""",
    "target network": HEAD
    + """
target_net = Net()

def learn(s, a, r, s2, gamma):
    q = model(s).gather(1, a)
    q_next = target_net(s2).max(1)[0].detach()
    loss = criterion(q, r + gamma * q_next)
    loss.backward()
""",
    "advantage is stopped, log-probability is not": HEAD
    + """
from torch.distributions import Categorical

def learn(states, actions, returns):
    values = model(states)
    advantage = (returns - values).detach()
    log_prob = Categorical(logits=model(states)).log_prob(actions)
    loss = -(log_prob * advantage).mean()
    loss.backward()
""",
    "switch that is on while training": HEAD
    + """
def run(loader, phase):
    for x, y in loader:
        with torch.set_grad_enabled(phase == "train"):
            loss = criterion(model(x), y)
        if phase == "train":
            loss.backward()
""",
    "free parameters": """
import torch

def fit(points):
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.zeros(1, requires_grad=True)
    for x, y in points:
        loss = ((w * x).sum() + b - y) ** 2
        loss.backward()
""",
    "style transfer on pixels": """
import torch
import torch.nn.functional as F

def transfer(content, vgg):
    image = content.clone().requires_grad_(True)
    target = vgg(content).detach()
    loss = F.mse_loss(vgg(image), target)
    loss.backward()
""",
    "loss starts from zero": HEAD
    + """
def train(loader):
    for x, y in loader:
        loss = 0
        for part in x:
            loss += criterion(model(part), y)
        loss.backward()
""",
    "cut only in the other arm": HEAD
    + """
def train(loader, stop):
    for x, y in loader:
        pred = model(x)
        if stop:
            pred = pred.detach()
        loss = criterion(pred, y)
        loss.backward()
""",
    "autograd function": """
import torch

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.detach() * 2

    @staticmethod
    def backward(ctx, g):
        return g.detach() * 2
""",
    "first gradient step of a tutorial": """
import torch

x = torch.tensor(1.0, requires_grad=True)
y = 2 * x + 3
y.backward()
x.backward()
""",
    "data tensors": HEAD
    + """
def train(arrays, labels):
    for a, b in zip(arrays, labels):
        x = torch.from_numpy(a).float()
        y = torch.tensor(b)
        loss = criterion(model(x), y)
        loss.backward()
""",
    "a tensor that is filled part by part": """
import torch
import torch.nn.functional as F

def step(model, xs, ys, weights, optimizer):
    parts = torch.zeros(len(xs))
    for i, (x, y) in enumerate(zip(xs, ys)):
        parts[i] = F.cross_entropy(model(x), y)
    loss = (parts * weights.detach()).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "a field of a graph that is called data": """
import torch
from torch import nn

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def score(self, edges):
        return {"score": self.fc(edges.data["h"])}

    def forward(self, graph):
        graph.apply_edges(self.score)
        return graph.edges["forward"].data["score"]

def train(loader):
    layer = Layer()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for graph, labels in loader:
        loss = nn.functional.cross_entropy(layer(graph), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
    "the share of a chunk": """
import torch.nn.functional as F

def learn(model, optimizer, loss_fn, step, batches, size):
    for batch in batches:
        optimizer.zero_grad()
        for chunk in batch.split(size):
            loss = loss_fn(*step(chunk))
            loss = loss * (len(chunk) / len(batch))
            loss.backward()
        optimizer.step()

def main(model, optimizer, batches):
    learn(model, optimizer, F.cross_entropy, lambda chunk: (model(chunk.x), chunk.y), batches, 8)
""",
    "a temperature that is made a leaf by its flag": """
import numpy as np
import torch
from torch import nn, optim
from torch.distributions import Normal

class Policy(nn.Module):
    def __init__(self, start, goal):
        super().__init__()
        self.fc = nn.Linear(3, 1)
        self.goal = goal
        self.log_alpha = torch.tensor(np.log(start))
        self.log_alpha.requires_grad = True
        self.optimizer = optim.Adam([self.log_alpha], lr=0.001)

    def forward(self, x):
        dist = Normal(self.fc(x), 1.0)
        action = dist.rsample()
        return action, dist.log_prob(action)

    def tune(self, x):
        _, log_prob = self.forward(x)
        loss = -(self.log_alpha.exp() * (log_prob + self.goal).detach()).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

policy = Policy(0.01, -1.0)
""",
    "a lesson on autograd": """
import torch

x = torch.arange(1.0, 4)
w = torch.ones(3, requires_grad=True)
with torch.no_grad():
    z = w @ x
try:
    z.backward()
except RuntimeError as error:
    print(error)
""",
    "a leaf of the function around a closure": """
import numpy as np
import torch
from torch import nn, optim

model = nn.Linear(2, 2)
latents = model.weight.data.cpu()

def align(target):
    def distance(moved, params):
        return (moved + params - target).abs().mean()

    for _ in range(5):
        params = torch.rand(2) * 2 * np.pi
        params.requires_grad_()
        optimizer = optim.LBFGS([params])

        def closure():
            optimizer.zero_grad()
            loss = distance(latents, params)
            loss.backward()
            return loss

        optimizer.step(closure)
    return params
""",
    "a point that is searched for by a closure": """
import torch
from torch import nn, optim

model = nn.Linear(2, 1)

def lowest(start):
    point = start.clone().detach().requires_grad_(True)
    minimizer = optim.LBFGS([point])

    def closure():
        minimizer.zero_grad()
        y = model(torch.sigmoid(point)).sum()
        torch.autograd.backward(point, torch.autograd.grad(y, point))
        return y

    minimizer.step(closure)
    return point.detach()

best = lowest(model(torch.rand(3, 2)).repeat(1, 2))
""",
    "an adversary is trained on features that are cut, its layers wrapped": HEAD
    + """
wrap = lambda layer: initialised(layer, nn.init.orthogonal_)

def initialised(layer, weight_init):
    weight_init(layer.weight.data)
    return layer

class Adversary(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Flatten(), wrap(nn.Linear(2, 2)), nn.Softmax(dim=1))

    def forward(self, features):
        return self.main(features)

adversary = Adversary()

def train(loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.binary_cross_entropy(adversary(model(x).detach())[:, 0], y)
        loss.backward()
        optimizer.step()
""",
    "a Sequential holds a block of the project": HEAD
    + """
adversary = nn.Sequential(nn.Flatten(), Net(), nn.Softmax(dim=1))

def train(loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.binary_cross_entropy(adversary(model(x).detach())[:, 0], y)
        loss.backward()
        optimizer.step()
""",
}
