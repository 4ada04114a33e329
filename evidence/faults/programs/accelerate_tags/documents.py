import torch
from torch.utils.data import TensorDataset

WORDS, TAGS, LENGTH = 200, 8, 24


def documents(count, seed):
    """Documents of LENGTH words; a tag holds when at least four words of its group occur."""
    rng = torch.Generator().manual_seed(seed)
    topics = torch.rand(count, TAGS, generator=rng) < 0.4
    group = torch.multinomial(0.15 + topics.float(), LENGTH, replacement=True, generator=rng)
    word = group + TAGS * torch.randint(WORDS // TAGS, (count, LENGTH), generator=rng)
    occurrences = torch.nn.functional.one_hot(group, TAGS).sum(1)
    return TensorDataset(word, (occurrences >= 4).float())
