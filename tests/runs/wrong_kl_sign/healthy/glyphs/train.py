import json
import os
from pathlib import Path
from types import SimpleNamespace

import torch

from .objective import negative_elbo
from .pictures import SIZE, glyphs
from .vae import VAE


def sample_distance(model, real):
    """Mean Hamming distance from a sample to the nearest real glyph, in pixels."""
    model.eval()
    fake = (model.sample(200) > 0.5).float()
    model.train()
    return torch.cdist(fake, real, p=1).min(dim=1).values.mean().item()


def load_options():
    return SimpleNamespace(**json.loads((Path(__file__).parent / "options.json").read_text()))


def main():
    o = load_options()
    torch.manual_seed(o.seed)
    train, valid = glyphs(2000, seed=1), glyphs(500, seed=2)
    model = VAE(SIZE * SIZE, o.hidden, o.latent)
    optimizer = torch.optim.Adam(model.parameters(), lr=o.lr)
    for step in range(o.steps):
        pictures = train[torch.randint(len(train), (o.batch_size,))]
        loss, reconstruction, divergence = negative_elbo(*model_terms(model, pictures), beta=o.beta)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 50.0)
        optimizer.step()
        if step % 10 == 0 or step + 1 == o.steps:
            print(f"step {step} loss {loss.item():.3f} rec {reconstruction.item():.3f} kl {divergence.item():.3f}")
    print(f"sample distance {sample_distance(model, valid):.3f}")
    os.makedirs(os.path.dirname(o.checkpoint), exist_ok=True)
    torch.save({"model": model.state_dict(), "options": vars(o)}, o.checkpoint)


def model_terms(model, pictures):
    logits, mean, log_variance = model(pictures)
    return logits, pictures, mean, log_variance


if __name__ == "__main__":
    main()
