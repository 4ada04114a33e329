"""Programs for wrong-sign: must be found in FAILS, and not in SILENT."""

from . import mutants

FAILS, ORIGINALS = mutants(
    {
        "divergence taken away": (
            """
import torch
import torch.nn.functional as F

class Trainer:
    def loss(self, out, x, mu, logvar):
        rec = F.binary_cross_entropy(out, x, reduction="sum")
        kld = -0.5 * torch.sum(1 + logvar - mu**2 - torch.exp(logvar))
        return rec + self.beta * kld, kld

    def step(self, x):
        out, mu, logvar = self.vae(x)
        loss, _ = self.loss(out, x, mu, logvar)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
""",
            "rec + self.beta * kld, kld",
            "rec - self.beta * kld, kld",
        ),
        "lower bound minimised": (
            """
from torch.distributions import Normal, kl_divergence

def step(encoder, decoder, x, opt, prior):
    q = Normal(*encoder(x))
    z = q.rsample()
    log_likelihood = decoder(z).log_prob(x).sum(-1)
    elbo = log_likelihood - kl_divergence(q, prior).sum(-1)
    loss = -elbo.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            "-elbo.mean()",
            "elbo.mean()",
        ),
        "entropy added in one of two losses that share it": (
            """
class Agent:
    def evaluate(self, obs, actions):
        dist = self.policy(obs)
        return dist.log_prob(actions), dist.entropy()

def warm_up(agent, obs, actions, adv, opt):
    log_prob, entropy = agent.evaluate(obs, actions)
    loss = -(log_prob * adv).mean() - 0.01 * entropy.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

def update(agent, obs, actions, adv, opt):
    log_prob, entropy = agent.evaluate(obs, actions)
    pg_loss = -(log_prob * adv).mean()
    loss = pg_loss - 0.02 * entropy.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

def main(env, opt):
    agent = Agent()
    for obs, actions, adv in env:
        warm_up(agent, obs, actions, adv, opt)
        update(agent, obs, actions, adv, opt)
""",
            "pg_loss - 0.02",
            "pg_loss + 0.02",
        ),
        "a part of an entropy that is given": (
            """
def learn(parent, batches):
    for log_probs, entropy, old, gae in batches:
        ratio = (log_probs - old).exp()
        policy_loss = -(ratio * gae).mean()
        policy_entropy = entropy[:, :-1].mean()
        loss = policy_loss - parent.coef * policy_entropy
        parent.optimizer.zero_grad()
        loss.backward()
        parent.optimizer.step()
""",
            "policy_loss - parent",
            "policy_loss + parent",
        ),
        "a divergence that a function of its name returns": (
            """
import torch

def kullback_leibler(mean, logvar):
    return -0.5 * torch.sum(1 + logvar - mean.pow(2) - logvar.exp())

def total(models, name, x):
    model = models[name]
    return model.rebuild(x) + kullback_leibler(*model.encode(x))
""",
            "return -0.5",
            "return 0.5",
        ),
        "entropy added": (
            """
import torch
import torch.nn.functional as F

def ppo(agent, obs, acts, old, adv, returns, opt, vf, ent_coef=0.01):
    dist, value = agent(obs)
    ratio = (dist.log_prob(acts) - old).exp()
    policy_loss = torch.max(-adv * ratio, -adv * ratio.clamp(0.8, 1.2)).mean()
    value_loss = F.mse_loss(value, returns)
    entropy = dist.entropy().mean()
    loss = policy_loss + vf * value_loss - ent_coef * entropy
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            "- ent_coef * entropy",
            "+ ent_coef * entropy",
        ),
        "policy gradient upside down": (
            """
import torch
from torch.distributions import Categorical

class Reinforce:
    def finish(self):
        losses = []
        for log_prob, R in zip(self.log_probs, self.returns()):
            losses.append(-log_prob * R)
        self.optimizer.zero_grad()
        torch.cat(losses).sum().backward()
        self.optimizer.step()

    def update(self, state, action, advantage):
        dist = Categorical(logits=self.policy(state))
        loss = -(dist.log_prob(action) * advantage.detach()).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
""",
            "-(dist.log_prob(action)",
            "(dist.log_prob(action)",
        ),
        "entropy in a helper": (
            """
# file: losses.py
def bonus(dist):
    return -dist.entropy().mean()
# file: train.py
from losses import bonus

def step(actor, obs, action, advantages, opt, args):
    dist = actor(obs)
    actor_loss = (-dist.log_prob(action) * advantages).mean()
    total = actor_loss + args.entropy_coef * bonus(dist)
    opt.zero_grad()
    total.backward()
    opt.step()
""",
            "-dist.entropy()",
            "dist.entropy()",
        ),
    }
)
_NAMED = """
import torch

def vae_loss(recon_x, x, mu, logvar):
    parts = {}
    parts["KLD"] = SIGN0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    parts["recon"] = torch.nn.functional.mse_loss(recon_x, x)
    return parts
"""
_SOFT = """
import torch

def update(actor, q1, q2, target_q1, target_q2, states, actions, rewards, after, alpha, optimizer, gamma=0.99):
    with torch.no_grad():
        next_actions, next_log_pi = actor(after)
        min_q_next = torch.min(target_q1(after, next_actions), target_q2(after, next_actions))
        min_q_next = min_q_next - alpha * next_log_pi
        y = rewards + gamma * min_q_next
    fresh, log_prob = actor(states)
    actor_loss = (alpha * log_prob - torch.min(q1(states, fresh), q2(states, fresh))).mean()
    optimizer.zero_grad()
    actor_loss.backward()
    optimizer.step()
    return y
"""
FAILS |= {
    "soft target": _SOFT.replace("min_q_next - alpha", "min_q_next + alpha"),
    "soft actor": _SOFT.replace("alpha * log_prob - torch.min", "alpha * log_prob + torch.min"),
    "soft actor, turned": _SOFT.replace("alpha * log_prob - torch.min", "-alpha * log_prob - torch.min"),
    "a divergence by its name, in a table that is put together elsewhere": _NAMED.replace("SIGN", ""),
    "the same with every sign written out": _NAMED.replace("SIGN0.5", "0.5").replace(
        "1 + logvar - mu.pow(2) - logvar.exp()", "logvar + 1 - logvar.exp() - mu ** 2"
    ),
}
SILENT = ORIGINALS | {
    "soft actor-critic, target and actor": _SOFT,
    "a value that is turned already": """
import torch

def actor_loss(q1, q2, states, fresh, log_pi, alpha):
    neg_q = -torch.min(q1(states, fresh), q2(states, fresh))
    return (neg_q + alpha * log_pi).mean()
""",
    "soft, by the negative": _SOFT.replace("alpha * log_prob - torch.min", "-torch.min").replace(
        "q2(states, fresh))).mean", "q2(states, fresh)) + alpha * log_prob).mean"
    ),
    "a log-probability that is turned already": _SOFT.replace("- alpha * next_log_pi", "+ alpha * neg_log_pi"),
    "entropy minimisation at test time": """
from torch.distributions import Categorical

def adapt(model, x, opt):
    loss = Categorical(logits=model(x)).entropy().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "soft actor-critic": """
def step(policy, q, s, alpha):
    dist = policy(s)
    a = dist.rsample()
    (alpha * dist.log_prob(a) - q(s, a)).mean().backward()
""",
    "sum over one minus": """
import torch

def step(vae, x):
    out, mu, logvar = vae(x)
    kl = torch.mean(-0.5 * torch.sum(1 + logvar - mu ** 2 - logvar.exp(), dim=1), dim=0)
    ((out - x) ** 2).mean().add(kl).backward()
    (((out - x) ** 2).mean() + kl).backward()
""",
    "two Gaussians": """
def step(m1, lv1, m2, lv2):
    kl = 0.5 * (lv2 - lv1 + (lv1.exp() + (m1 - m2) ** 2) / lv2.exp() - 1)
    kl.sum().backward()
""",
    "maximising by a negative coefficient": """
def step(actor, s, a, adv):
    dist = actor(s)
    policy_loss = -(dist.log_prob(a) * adv).mean()
    loss = policy_loss + (-0.01) * dist.entropy().mean()
    loss.backward()
""",
    "negative log-probability by name": """
def step(dist, a, adv):
    neg = -dist.log_prob(a)
    (neg * adv).mean().backward()
""",
    "minus in front of the advantage": """
def step(dist, a, advantages):
    ((-advantages) * dist.log_prob(a)).mean().backward()
""",
    "a weight beside the minus": """
import torch

def criterion(recon, x, mu, log_var, beta):
    bce = torch.nn.functional.binary_cross_entropy(recon, x, reduction="sum")
    kld = -0.5 * beta * torch.sum(1 + log_var - mu.pow(2) - log_var.exp())
    return bce + kld

def step(model, x, optimizer, beta):
    recon, mu, log_var = model(x)
    loss = criterion(recon, x, mu, log_var, beta)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "a conditional entropy in an information that grows": """
import torch

def information(dist):
    conditional = dist.entropy().mean()
    mean = dist.probs.mean(0)
    marginal = -(mean * mean.log()).sum()
    return marginal - conditional, conditional

def update(policy, states, advantages, actions, optimizer, coef):
    dist = policy(states)
    policy_loss = -(dist.log_prob(actions) * advantages).mean()
    mutual_info, cond_entropy = information(dist)
    loss = policy_loss - mutual_info + coef * cond_entropy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "a divergence by its name": _NAMED.replace("SIGN", "-"),
    "its negative, which is taken away": _NAMED.replace("SIGN", "").replace(
        "return parts", 'return parts["recon"] - 0.1 * parts["KLD"]'
    ),
    "a part of a bound that is made greater": _NAMED.replace("SIGN", "").replace("vae_loss", "elbo_terms"),
    "a cross entropy of the policy": """
import torch.nn.functional as F

def imitate(policy, states, actions, values, opt):
    cross_entropy = F.cross_entropy(policy(states), actions)
    loss = values.mean() + 0.1 * cross_entropy
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "a negative divergence that its loss takes away": """
import torch

def kl_of(mean, logvar):
    return 0.5 * torch.sum(1 + logvar - mean.pow(2) - logvar.exp())

def vae_loss(rebuilt, mean, logvar):
    return rebuilt - kl_of(mean, logvar)
""",
}

_PPO = """
import torch

def learn(self, batch_obs, batch_acts, batch_log_probs, batch_rtgs):
    V, _ = self.evaluate(batch_obs, batch_acts)
    A_k = batch_rtgs - V.detach()
    A_k = (A_k - A_k.mean()) / (A_k.std() + 1e-10)
    for _ in range(self.n_updates):
        V, log_probs = self.evaluate(batch_obs, batch_acts)
        ratios = torch.exp(log_probs - batch_log_probs)
        loss = -torch.min(ratios * A_k, torch.clamp(ratios, 0.8, 1.2) * A_k).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
"""
SILENT["ppo"] = _PPO
FAILS["a value less its return"] = _PPO.replace("batch_rtgs - V.detach()", "V.detach() - batch_rtgs")
