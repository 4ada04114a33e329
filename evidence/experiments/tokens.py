"""A larger vocabulary packs more characters into a token, at the price of rarer tokens and a larger embedding."""

import tempfile
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy

CLAIMS = {
    "vocabulary-against-length": "byte-pair merges on 30,000 characters of prose: {chars_300:.1f}, {chars_600:.1f} and {chars_1200:.1f} characters per token "
    "for 300, 600 and 1,200 tokens; the embedding of width 64 grows to {embedding:,.0f} parameters and {rare:.0%} of the largest "
    "vocabulary is used fewer than ten times",
    "pretokenised-file": "256 windows of 256 tokens: reading them from a memory-mapped file takes {mapped:.3f} of the time of tokenising the text anew",
}
SEEDS = 1
EXPECT = {
    "more tokens, longer tokens": lambda m: m["chars_300"] < m["chars_600"] < m["chars_1200"],
    "with less and less gain": lambda m: m["chars_1200"] / m["chars_600"] < m["chars_600"] / m["chars_300"],
    "some tokens are rare": lambda m: m["rare"] > 0.2,
    "the mapped file is at least five times as fast": lambda m: m["mapped"] < 0.2,
}
TEXT = Path(__file__).parents[2] / "demo" / "text.txt"


def merged(tokens, pair, new):
    """`tokens` with each occurrence of `pair` replaced by `new`."""
    told, at = [], 0
    while at < len(tokens):
        together = at + 1 < len(tokens) and (tokens[at], tokens[at + 1]) == pair
        told.append(new if together else tokens[at])
        at += 2 if together else 1
    return told


def byte_pairs(text, size):
    """Tokens of the text at each vocabulary size from 256 to `size`, and the merges."""
    tokens, merges = list(text.encode()), []
    for new in range(256, size + 1):
        yield new, tokens, merges
        pair, _ = Counter(pairwise(tokens)).most_common(1)[0]
        tokens = merged(tokens, pair, new)
        merges = [*merges, (pair, new)]


def encode(text, merges):
    tokens = list(text.encode())
    for pair, new in merges:
        tokens = merged(tokens, pair, new)
    return tokens


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(seed):
    text = TEXT.read_text(encoding="utf-8")[:30_000]
    sizes = {size: (tokens, merges) for size, tokens, merges in byte_pairs(text, 1200) if size in (300, 600, 1200)}
    chars = {size: len(text) / len(tokens) for size, (tokens, _) in sizes.items()}
    used = Counter(sizes[1200][0])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tokens.bin"
        numpy.array(sizes[300][0], dtype=numpy.uint16).tofile(file)
        stored = numpy.memmap(file, dtype=numpy.uint16, mode="r")
        starts = numpy.random.default_rng(seed).integers(len(stored) - 256, size=256)
        from_file = seconds(lambda: [stored[start : start + 256].astype(numpy.int64) for start in starts])
        anew = seconds(lambda: [encode(text[start : start + 300], sizes[300][1]) for start in starts])
    return {
        **{f"chars_{size}": one for size, one in chars.items()},
        "embedding": 1200 * 64,
        "rare": sum(used[token] < 10 for token in range(256, 1200)) / 944,
        "mapped": from_file / anew,
    }
