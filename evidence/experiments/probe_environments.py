"""Five environments that each add one thing: an injected fault breaks the first one that needs the broken part.

They need no library. Give `verdicts` your own agent: an object with update(observations, actions, rewards, following,
ended), act(observations) and value(observations), all on tensors with one row per environment.
"""

import torch
from torch import nn
from torch.nn import functional as F

GAMMA = 0.9
CLAIMS = {
    "probe-environments": "a small actor-critic passes {healthy:.0f} of 5; the first environment that fails is {no_value:.0f} when the value "
    "is not trained, {blind:.0f} when observations are lost, {no_bootstrap:.0f} when the value is not carried back a step, {wrong_sign:.0f} "
    "with the sign of the advantage turned, {mispaired:.0f} when the policy is updated with the observations of others"
}
SEEDS = 2
EXPECT = {
    "the healthy agent passes all five": lambda m: m["healthy"] == 5,
    "value not trained: constant reward fails": lambda m: m["no_value"] == 1,
    "observations lost: reward by observation fails": lambda m: m["blind"] == 2,
    "no value carried back: two steps fail": lambda m: m["no_bootstrap"] == 3,
    "wrong sign: reward by action fails": lambda m: m["wrong_sign"] == 4,
    "wrong pairing: reward by action and observation fails": lambda m: m["mispaired"] == 5,
}


class Environment:
    """Observations are -1, 0 or 1; an episode has one or two steps; the reward comes with the last."""

    def __init__(self, *, steps=1, sees=False, actions=1, needs_observation=False):
        self.steps, self.sees, self.actions, self.needs_observation = steps, sees, actions, needs_observation

    def start(self, count):
        self.left = self.steps
        drawn = torch.randint(2, (count, 1)).float() * 2 - 1
        self.now = drawn if self.sees else torch.zeros(count, 1)
        return self.now

    def step(self, action):
        """Next observation, reward, whether the episode ended."""
        self.left -= 1
        ended, reward = self.left == 0, torch.zeros(len(action))
        if ended:
            chosen = action.float() * 2 - 1 if self.actions == 2 else torch.ones(len(action))
            reward = chosen * self.now[:, 0] if self.sees else chosen
        self.now = torch.ones_like(self.now) if not self.sees else self.now
        return self.now, reward, ended


ENVIRONMENTS = {  # what each adds, and what a right agent ends with
    "constant reward": Environment(),
    "reward by observation": Environment(sees=True),
    "reward one step later": Environment(steps=2),
    "reward by action": Environment(actions=2),
    "reward by action and observation": Environment(sees=True, actions=2, needs_observation=True),
}


class ActorCritic:
    """The smallest agent that can pass; `fault` breaks one part of it."""

    def __init__(self, actions, seed, fault=""):
        torch.manual_seed(seed)
        self.fault = fault
        self.critic, self.actor = (
            nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, outputs)) for outputs in (1, actions)
        )
        self.optimizer = torch.optim.Adam([*self.critic.parameters(), *self.actor.parameters()], lr=2e-2)

    def _seen(self, observations):
        return torch.zeros_like(observations) if self.fault == "blind" else observations

    def value(self, observations):
        return self.critic(self._seen(observations))[:, 0]

    def act(self, observations):
        return torch.distributions.Categorical(logits=self.actor(self._seen(observations))).sample()

    def update(self, observations, actions, rewards, following, ended):
        carried = 0.0 if ended or self.fault == "no_bootstrap" else GAMMA * self.value(following).detach()
        target, value = rewards + carried, self.value(observations)
        advantage = (target - value).detach() * (-1 if self.fault == "wrong_sign" else 1)
        paired = observations.roll(1, 0) if self.fault == "mispaired" else observations
        chosen = self.actor(self._seen(paired)).log_softmax(1).gather(1, actions[:, None])[:, 0]
        fit = torch.zeros(()) if self.fault == "no_value" else F.mse_loss(value, target)
        self.optimizer.zero_grad()
        (fit - (chosen * advantage).mean()).backward()
        self.optimizer.step()


def train(agent, environment, updates=200, count=32):
    for _ in range(updates):
        now, ended = environment.start(count), False
        while not ended:
            action = agent.act(now)
            following, reward, ended = environment.step(action)
            agent.update(now, action, reward, following, ended)
            now = following


@torch.no_grad()
def passes(agent, environment):
    """Values within 0.2 of the truth, and the right action in nine of ten cases."""
    seen = torch.tensor([[-1.0], [1.0]]) if environment.sees else torch.zeros(1, 1)
    right = torch.ones(len(seen)) if environment.actions == 2 or not environment.sees else seen[:, 0]
    right = right * GAMMA ** (environment.steps - 1)
    if (agent.value(seen) - right).abs().max() > 0.2:
        return False
    now = environment.start(500)
    best = (now[:, 0] > 0).long() if environment.sees else torch.ones(500, dtype=torch.long)
    return environment.actions == 1 or (agent.act(now) == best).float().mean().item() > 0.9


def verdicts(make_agent):
    """Trains one agent per environment; `make_agent` gets the number of actions. Yields name and passed."""
    for name, environment in ENVIRONMENTS.items():
        agent = make_agent(environment.actions)
        train(agent, environment)
        yield name, passes(agent, environment)


def measure(seed):
    def passed(fault=""):
        return (good for _, good in verdicts(lambda actions: ActorCritic(actions, seed, fault)))

    def first_failure(fault):
        return next((place for place, good in enumerate(passed(fault), 1) if not good), 0)

    faults = ("no_value", "blind", "no_bootstrap", "wrong_sign", "mispaired")
    return {"healthy": sum(passed()), **{fault: first_failure(fault) for fault in faults}}


if __name__ == "__main__":
    for environment, passed in verdicts(lambda actions: ActorCritic(actions, 0)):
        print("pass" if passed else "FAIL", environment)
