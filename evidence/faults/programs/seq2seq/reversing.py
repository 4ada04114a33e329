import torch
from torch.utils.data import Dataset

PAD, DIGITS = 0, 10
BEGIN, END = DIGITS + 1, DIGITS + 2


class Strings(Dataset):
    """Strings of 5 to 7 digits (tokens 1 to 10) with their reverse between BEGIN and END."""

    def __init__(self, count, seed):
        rng = torch.Generator().manual_seed(seed)
        lengths = torch.randint(5, 8, (count,), generator=rng).tolist()
        self.strings = [torch.randint(1, DIGITS + 1, (length,), generator=rng) for length in lengths]

    def __len__(self):
        return len(self.strings)

    def __getitem__(self, index):
        source = self.strings[index]
        target = torch.cat([torch.tensor([BEGIN]), source.flip(0), torch.tensor([END])])
        return source, target


def pad(items):
    sources, targets = zip(*items, strict=True)
    together = torch.nn.utils.rnn.pad_sequence
    return together(sources, batch_first=True, padding_value=PAD), together(targets, batch_first=True, padding_value=PAD)
