"""Programs for tested-for-another."""

from ._programs import mutant

_SAMPLER = """
import numpy as np
import torch

class Data:
    def sample(self, u, num):
        pos_items, pos_batch = self.train_items[u], []
        while len(pos_batch) < num:
            pos_id = np.random.randint(low=0, high=len(pos_items), size=1)[0]
            pos_i_id = pos_items[pos_id]
            if pos_i_id not in pos_batch:
                pos_batch.append(pos_i_id)
        return pos_batch
"""
_VOCABULARY = """
import torch

def build(texts, limit):
    seen, kept = set(), []
    for index, text in enumerate(texts):
        for word in text.split():
            if word not in seen and len(seen) < limit:
                seen.add(word)
                kept.append(index)
    return torch.tensor(kept), seen
"""
_NEGATIVES = """
import random
import torch

def negatives(items, positives, n):
    chosen = []
    while len(chosen) < n:
        other = random.choice(items)
        candidate = random.choice(items)
        if candidate not in chosen and candidate not in positives:
            chosen.append(candidate)
    return torch.tensor(chosen)
"""
_NODES = """
import torch

def nodes_of(edges):
    nodes = []
    for source, target in edges:
        if source not in nodes:
            nodes.append(source)
        if target not in nodes:
            nodes.append(target)
    return torch.arange(len(nodes)), nodes
"""
SILENT = {
    "a sampler": _SAMPLER,
    "a vocabulary": _VOCABULARY,
    "negatives": _NEGATIVES,
    "nodes": _NODES,
    "of another case": mutant(_VOCABULARY, ("if word not in", "if word.lower() not in")),
    "what is made of it": mutant(_NODES, ("nodes.append(source)", "nodes.append((source, 0))")),
    "what is computed from it": mutant(
        _NODES, ("nodes.append(source)", "node = str(source)\n            nodes.append(node)")
    ),
}
FAILS = {
    "a sampler": mutant(_SAMPLER, ("append(pos_i_id)", "append(pos_id)")),
    "a vocabulary": mutant(_VOCABULARY, ("seen.add(word)", "seen.add(index)")),
    "negatives": mutant(_NEGATIVES, ("chosen.append(candidate)", "chosen.append(other)")),
    "nodes": mutant(_NODES, ("nodes.append(source)", "nodes.append(target)")),
    "the other node": mutant(_NODES, ("            nodes.append(target)", "            nodes.append(source)")),
}
