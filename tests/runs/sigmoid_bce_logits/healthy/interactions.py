import torch


class Interactions:
    """Who liked what: every user likes the tenth of the items that fits their taste best."""

    def __init__(self, users, items, factors, seed):
        rng = torch.Generator().manual_seed(seed)
        taste = torch.randn(users, factors, generator=rng)
        style = torch.randn(items, factors, generator=rng)
        fit = taste @ style.T + 0.3 * torch.randn(users, items, generator=rng)
        ranked = fit.argsort(dim=1, descending=True)[:, : items // 10]
        self.users, self.items = users, items
        self.liked = torch.zeros(users, items, dtype=torch.bool)
        self.liked.scatter_(1, ranked, True)
        held = torch.rand(users, items, generator=rng) < 0.25
        self.train = (self.liked & ~held).nonzero()
        self.test = self.liked & held

    def epoch(self, batch, negatives):
        """Batches (user, item, label) of seen likes and random other items."""
        order = torch.randperm(len(self.train))
        for chosen in order.split(batch // (1 + negatives)):
            user, item = self.train[chosen].unbind(1)
            others = torch.randint(self.items, (len(chosen) * negatives,))
            label = torch.cat([torch.ones(len(chosen)), torch.zeros(len(others))])
            yield torch.cat([user, user.repeat_interleave(negatives)]), torch.cat([item, others]), label
