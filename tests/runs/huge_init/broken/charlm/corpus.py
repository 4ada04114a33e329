"""Endless small talk about the weather, from a tiny grammar."""

import random

import torch

PLACES = ("the harbour", "the old mill", "the north road", "our valley", "the lighthouse")
WEATHER = ("rain", "fog", "sunshine", "hail", "a light breeze", "snow")
TIMES = ("at dawn", "by noon", "before supper", "all night", "on market day")


def small_talk(sentences, seed):
    rng = random.Random(seed)
    lines = []
    for _ in range(sentences):
        place, weather, time = rng.choice(PLACES), rng.choice(WEATHER), rng.choice(TIMES)
        lines.append(
            rng.choice(
                (
                    f"{time} there was {weather} over {place}.",
                    f"{place} had {weather} {time}, and so had {rng.choice(PLACES)}.",
                    f"they say {weather} came to {place} {time}.",
                )
            )
        )
    return "\n".join(lines)


text = small_talk(900, seed=6)
letters = sorted(set(text))
encode = {letter: i for i, letter in enumerate(letters)}
ids = torch.tensor([encode[letter] for letter in text])
cut = int(0.9 * len(ids))
splits = {"train": ids[:cut], "valid": ids[cut:]}


def get_batch(split, batch_size, context):
    stream = splits[split]
    starts = torch.randint(len(stream) - context - 1, (batch_size,))
    x = torch.stack([stream[s : s + context] for s in starts])
    y = torch.stack([stream[s + 1 : s + 1 + context] for s in starts])
    return x, y
