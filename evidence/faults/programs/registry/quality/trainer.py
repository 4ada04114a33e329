import copy

import torch
from torch import nn


class Trainer:
    """Trains a classifier and evaluates a moving average of its weights."""

    def __init__(self, model, criterion, optimizer, schedule, clip, ema):
        self.model, self.criterion = model, criterion
        self.optimizer, self.schedule, self.clip, self.decay = optimizer, schedule, clip, ema
        self.average = copy.deepcopy(model).requires_grad_(False)

    def fit(self, train, valid, epochs):
        for epoch in range(epochs):
            loss = self.train_epoch(train)
            average, right = self.evaluate(valid)
            print(f"epoch {epoch} loss {loss:.4f} right {right:.3f}, average {average:.3f}", flush=True)

    def train_epoch(self, loader):
        self.model.train()
        losses = []
        for batch in loader:
            losses.append(self.train_step(*batch))
        return sum(losses) / len(losses)

    def train_step(self, features, grade):
        scores = self.model(features)
        loss = self.criterion(scores, grade)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        self.schedule.step()
        self.update_average()
        return loss.item()

    @torch.no_grad()
    def update_average(self):
        for kept, new in zip(self.average.parameters(), self.model.parameters(), strict=True):
            kept.lerp_(new, 1 - self.decay)

    @torch.no_grad()
    def evaluate(self, loader):
        """Share of right grades by the average and by the model itself."""
        shares = []
        for model in (self.average, self.model):
            model.eval()
            right = [(model(features).argmax(-1) == grade).float() for features, grade in loader]
            shares.append(torch.cat(right).mean().item())
        return shares
