import configparser
import pathlib

import torch

from interactions import Interactions
from recommender import Recommender


def ints(section):
    return {key: int(value) for key, value in section.items()}


@torch.no_grad()
def hit_rate(model, data, k=10):
    """Share of the k best-scored unseen items that are held-out likes, among users that have some."""
    model.eval()
    user = torch.arange(data.users).repeat_interleave(data.items)
    item = torch.arange(data.items).repeat(data.users)
    scores = model(user, item)["scores"].view(data.users, data.items)
    scores[tuple(data.train.T)] = -1e9
    top = scores.topk(k, dim=1).indices
    hits = data.test.gather(1, top).sum(1)
    possible = data.test.sum(1).clamp(max=k)
    model.train()
    return (hits.sum() / possible.sum()).item()


def main():
    config = configparser.ConfigParser()
    config.read(pathlib.Path(__file__).parent / "settings.ini")
    options = config["train"]
    torch.manual_seed(options.getint("seed"))
    data = Interactions(**ints(config["data"]))
    model = Recommender(data.users, data.items, **ints(config["model"]))
    optimizer = torch.optim.Adam(model.parameters(), lr=options.getfloat("lr"), weight_decay=1e-5)
    step = 0
    for epoch in range(options.getint("epochs")):
        for user, item, label in data.epoch(options.getint("batch"), options.getint("negatives")):
            optimizer.zero_grad()
            output = model(user, item, label)
            output["loss"].backward()
            optimizer.step()
            if step % 10 == 0:
                print(f"step {step}: loss {output['loss'].item():.4f}")
            step += 1
        print(f"epoch {epoch}: loss {output['loss'].item():.4f} recall@10 {hit_rate(model, data):.4f}")


if __name__ == "__main__":
    main()
