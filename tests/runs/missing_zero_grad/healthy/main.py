import torch

from model import Forecaster
from series import build_loaders
from settings import Settings
from trainer import Trainer


def main():
    settings = Settings()
    torch.manual_seed(settings.seed)
    train_loader, valid_loader = build_loaders(settings)
    trainer = Trainer(Forecaster(settings), settings, train_loader, valid_loader)
    trainer.fit()


if __name__ == "__main__":
    main()
