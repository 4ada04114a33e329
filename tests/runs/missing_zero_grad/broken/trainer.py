from pathlib import Path

import torch
from torch import nn


class Trainer:
    def __init__(self, model, settings, train_loader, valid_loader):
        self.model = model
        self.settings = settings
        self.train_loader = train_loader
        self.valid_loader = valid_loader
        self.criterion = nn.SmoothL1Loss()
        self.optimizer = torch.optim.RMSprop(model.parameters(), lr=settings.lr)
        self.best = float("inf")
        self.history = []

    def fit(self):
        for epoch in range(self.settings.epochs):
            self.model.train()
            for past, future in self.train_loader:
                self.history.append(self.training_step(past, future))
                if len(self.history) % 10 == 1:
                    print(f"epoch {epoch} step {len(self.history)} loss {self.history[-1]:.4f}")
            error = self.validate()
            print(f"epoch {epoch} valid mae {error:.4f}")
            if error < self.best:
                self.best = error
                self.save("best.pt")

    def training_step(self, past, future):
        loss = self.criterion(self.model(past), future)
        loss.backward()  # cause
        nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.max_norm)
        self.optimizer.step()  # cause
        return loss.item()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        errors = [(self.model(past) - future).abs().mean() for past, future in self.valid_loader]
        self.model.train()
        return torch.stack(errors).mean().item()

    def save(self, name):
        folder = Path(self.settings.out_dir)
        folder.mkdir(parents=True, exist_ok=True)
        torch.save({"model": self.model.state_dict(), "best": self.best}, folder / name)
