"""Made-up sentences. A word's tag depends on the word and on the word before it."""

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

WORDS, KINDS, TAGS, PAD, IGNORE = 60, 5, 8, 0, -100


class Treebank(Dataset):
    def __init__(self, count, seed, grammar_seed=77):
        grammar = torch.Generator().manual_seed(grammar_seed)
        kind = torch.randint(KINDS, (WORDS,), generator=grammar)
        rule = torch.randint(TAGS, (KINDS, KINDS), generator=grammar)
        rng = torch.Generator().manual_seed(seed)
        self.sentences = []
        for _ in range(count):
            length = int(torch.randint(5, 16, (), generator=rng))
            words = torch.randint(1, WORDS, (length,), generator=rng)
            before = torch.cat([words[:1], words[:-1]])
            self.sentences.append((words, rule[kind[words], kind[before]]))

    def __len__(self):
        return len(self.sentences)

    def __getitem__(self, index):
        return self.sentences[index]


def collate(batch):
    """Padded word ids and tags, both (B, longest); tags of padding are IGNORE."""
    words, tags = zip(*batch)
    return (
        pad_sequence(words, batch_first=True, padding_value=PAD),
        pad_sequence(tags, batch_first=True, padding_value=IGNORE),
    )
