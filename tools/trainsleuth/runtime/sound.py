"""Waveforms as a WAV file and as spectrograms."""

import struct
import wave

MOST = 4
SHORTEST = 2000  # values of a row from which it can be a waveform
RATE = 16_000  # values per second that the file claims: the batch does not say its own
WINDOW = 400


def clips(tensor):
    """(N, T) of what looks like sound: long rows of real numbers around zero, else None."""
    if not tensor.dtype.is_floating_point:
        return None
    rows = tensor[:, 0] if tensor.dim() == 3 and tensor.shape[1] == 1 else tensor
    if rows.dim() != 2 or rows.shape[1] < SHORTEST or is_flat_picture(rows.shape[1]):
        return None
    low, high = float(rows.min()), float(rows.max())
    return rows[:MOST] if low < 0 < high else None


def is_flat_picture(length):
    """Three colours of a square: 3072 are 3 x 32 x 32."""
    return length == 3 * round((length / 3) ** 0.5) ** 2


def write(path, rows):
    """The clips one after the other, loudest value at full scale."""
    values = rows.detach().float().cpu()
    scaled = (values / values.abs().max().clamp(min=1e-12) * 32_000).round().int().reshape(-1).tolist()
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(struct.pack("<%dh" % len(scaled), *scaled))


def spectrograms(torch, rows):
    """(N, F, T): log magnitudes, the lowest frequency in the last line."""
    window = torch.hann_window(WINDOW)
    spectrum = torch.stft(rows.detach().float().cpu(), WINDOW, WINDOW // 2, window=window, return_complex=True)
    return spectrum.abs().clamp(min=1e-5).log().flip(1)
