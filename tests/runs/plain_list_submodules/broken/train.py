import argparse

import torch
from torch.nn import functional as F

from graphs import citation_graph
from layers import GraphNet


def accuracy(model, graph, nodes):
    model.eval()
    with torch.no_grad():
        guess = model(graph.features, graph.adjacency).argmax(dim=1)
    model.train()
    return (guess[nodes] == graph.labels[nodes]).float().mean().item()


def run(options):
    torch.manual_seed(options.seed)
    graph = citation_graph()
    model = GraphNet(graph.features.shape[1], options.hidden, int(graph.labels.max()) + 1, options.depth)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.lr, weight_decay=5e-4)
    for step in range(options.steps):
        model.train()
        optimizer.zero_grad()
        scores = model(graph.features, graph.adjacency)
        loss = F.cross_entropy(scores[graph.train], graph.labels[graph.train])
        loss.backward()
        optimizer.step()
        if step % 10 == 0 or step + 1 == options.steps:
            test = accuracy(model, graph, graph.test)
            print(f"step {step:3d} | train loss {loss.item():.4f} | test acc {test:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--hidden", type=int, default=24)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=2)
    run(parser.parse_args())
