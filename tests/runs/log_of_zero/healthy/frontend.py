import torch
from torch import nn


class LogSpectrogram(nn.Module):
    """(B, samples) waveforms to (B, 1, bins, frames), each clip with mean 0 and variance 1."""

    def __init__(self, n_fft=128, hop=64, floor=1e-5):
        super().__init__()
        self.n_fft, self.hop, self.floor = n_fft, hop, floor
        self.register_buffer("window", torch.hann_window(n_fft), persistent=False)

    def forward(self, waves):
        spectrum = torch.stft(waves, self.n_fft, self.hop, window=self.window, center=False, return_complex=True)
        power = spectrum.real**2 + spectrum.imag**2
        level = torch.log(power + self.floor)
        level = level - level.mean(dim=(1, 2), keepdim=True)
        level = level / level.std(dim=(1, 2), keepdim=True)
        return level.unsqueeze(1)
