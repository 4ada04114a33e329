from torch import nn


class Forecaster(nn.Module):
    """Past values (batch, window, 1) to the next ones (batch, horizon)."""

    def __init__(self, settings):
        super().__init__()
        self.rnn = nn.GRU(1, settings.hidden, settings.layers, batch_first=True)
        self.readout = nn.Sequential(
            nn.Linear(settings.hidden, settings.hidden),
            nn.Tanh(),
            nn.Linear(settings.hidden, settings.horizon),
        )

    def forward(self, past):
        states, _ = self.rnn(past)
        return self.readout(states[:, -1])
