"""A citation-like graph: papers of one field mostly cite papers of the same field."""

from dataclasses import dataclass

import torch


@dataclass
class Graph:
    features: torch.Tensor  # (N, F)
    adjacency: torch.Tensor  # (N, N), symmetric, with self loops, normalised by degree
    labels: torch.Tensor  # (N,)
    train: torch.Tensor  # (N,) bool
    test: torch.Tensor  # (N,) bool


def citation_graph(nodes=400, fields=5, words=60, labelled=20, seed=0):
    rng = torch.Generator().manual_seed(seed)
    labels = torch.randint(fields, (nodes,), generator=rng)
    same = labels[:, None] == labels[None, :]
    chance = torch.where(same, 0.035, 0.006)
    upper = torch.triu(torch.rand(nodes, nodes, generator=rng) < chance, diagonal=1)
    links = (upper | upper.T).float() + torch.eye(nodes)
    scale = links.sum(1).rsqrt()

    topic = torch.rand(fields, words, generator=rng) * 0.2
    features = (torch.rand(nodes, words, generator=rng) < topic[labels]).float()

    train = torch.zeros(nodes, dtype=torch.bool)
    for field in range(fields):
        members = (labels == field).nonzero().flatten()
        train[members[torch.randperm(len(members), generator=rng)[:labelled]]] = True
    return Graph(features, scale[:, None] * links * scale[None, :], labels, train, ~train)
