import torch
from torch.utils.data import Dataset

WORDS, PAD = 60, 0


class Reviews(Dataset):
    """Reviews of 8 to 20 words; each word belongs to one of three groups, the label is the most frequent one."""

    def __init__(self, count, seed):
        rng = torch.Generator().manual_seed(seed)
        self.items = [self.draw(rng) for _ in range(count)]

    @staticmethod
    def draw(rng):
        label = int(torch.randint(3, (1,), generator=rng))
        length = int(torch.randint(8, 21, (1,), generator=rng))
        leading = torch.rand(length, generator=rng) < 0.7
        group = torch.where(leading, label, torch.randint(3, (length,), generator=rng))
        words = 1 + 3 * torch.randint(WORDS // 3, (length,), generator=rng) + group
        label = int(torch.bincount((words - 1) % 3, minlength=3).argmax())
        return words, label

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def pad(items):
    words = [item[0] for item in items]
    tokens = torch.nn.utils.rnn.pad_sequence(words, batch_first=True, padding_value=PAD)
    labels = torch.tensor([item[1] for item in items])
    return {"input_ids": tokens, "attention_mask": (tokens != PAD).long(), "labels": labels}
