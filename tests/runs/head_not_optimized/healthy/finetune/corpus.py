"""Synthetic sentences. Words belong to topics; a sentence is drawn mostly from one topic."""

import torch

VOCABULARY, LENGTH, TOPICS = 96, 12, 8


def sentences(count, seed):
    """Token ids (count, LENGTH) and the topic of each (count,)."""
    rng = torch.Generator().manual_seed(seed)
    topic = torch.randint(TOPICS, (count,), generator=rng)
    width = VOCABULARY // TOPICS
    on_topic = topic[:, None] * width + torch.randint(width, (count, LENGTH), generator=rng)
    anywhere = torch.randint(VOCABULARY, (count, LENGTH), generator=rng)
    keep = torch.rand(count, LENGTH, generator=rng) < 0.5
    return torch.where(keep, on_topic, anywhere), topic


def source_task(count, seed):
    """Which of four neighbouring pairs of topics?"""
    tokens, topic = sentences(count, seed)
    return tokens, topic // 2


def target_task(count, seed):
    """All topics, in another order than they were made."""
    tokens, topic = sentences(count, seed)
    return tokens, (topic * 3 + 1) % TOPICS
