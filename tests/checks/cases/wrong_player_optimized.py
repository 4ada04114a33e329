"""Programs for wrong-player-optimized: must be found in FAILS, and not in SILENT."""

from . import mutants

FAILS, ORIGINALS = mutants(
    {
        "script": (
            """
import torch
from models import Generator, Discriminator

netG, netD = Generator(), Discriminator()
optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
""",
            "Adam(netD.parameters()",
            "Adam(netG.parameters()",
        ),
        "class": (
            """
import torch.optim as optim

class GAN:
    def __init__(self, generator, discriminator, lr):
        self.generator, self.discriminator = generator, discriminator
        self.g_optimizer = optim.RMSprop(self.generator.parameters(), lr)
        self.d_optimizer = optim.RMSprop(self.discriminator.parameters(), lr)
""",
            "RMSprop(self.discriminator.parameters()",
            "RMSprop(self.generator.parameters()",
        ),
        "actor and critic": (
            """
from torch.optim import Adam

def build(actor, critic, args):
    actor_optimizer = Adam(actor.parameters(), lr=args.lr)
    critic_optimizer = Adam(critic.parameters(), lr=args.critic_lr)
    return actor_optimizer, critic_optimizer
""",
            "Adam(actor.parameters()",
            "Adam(critic.parameters()",
        ),
        "lightning": (
            """
import lightning as L
import torch

class Lit(L.LightningModule):
    def configure_optimizers(self):
        opt_g = torch.optim.Adam(self.generator.parameters(), lr=1e-4)
        opt_d = torch.optim.Adam(self.discriminator.parameters(), lr=4e-4)
        return [opt_g, opt_d], []
""",
            "Adam(self.discriminator.parameters()",
            "Adam(self.generator.parameters()",
        ),
        "both in one list": (
            """
import torch
from torch import nn

def players():
    disc, gen = nn.Linear(4, 1), nn.Linear(2, 4)
    optim_gen = torch.optim.Adam(gen.parameters(), lr=1e-4)
    optim_disc = torch.optim.Adam(disc.parameters(), lr=1e-4)
    return optim_gen, optim_disc
""",
            "Adam(gen.parameters()",
            "Adam(list(gen.parameters()) + list(disc.parameters())",
        ),
    }
)
SILENT = ORIGINALS | {
    "one network": "import torch\n\ndef f(net):\n    optimizer = torch.optim.Adam(net.parameters())\n    return optimizer\n",
    "autoencoder": """
import itertools
import torch

def f(encoder, decoder, discriminator):
    optimizer_G = torch.optim.Adam(itertools.chain(encoder.parameters(), decoder.parameters()))
    optimizer_D = torch.optim.Adam(discriminator.parameters())
    return optimizer_G, optimizer_D
""",
    "only the encoder is tuned": """
import torch

def f(decoder_layers):
    encoder_optimizer = torch.optim.Adam(decoder_layers.parameters())
    return encoder_optimizer
""",
    "a choice": """
import torch

def f(net, kind):
    if kind == "sgd":
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
    else:
        opt = torch.optim.Adam(net.parameters())
    return opt
""",
    "phases": """
import torch

def f(net, head):
    opt = torch.optim.SGD(head.parameters(), lr=0.1)
    opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.01)
    return opt
""",
    "two functions": """
import torch

def first(net):
    return torch.optim.SGD(net.parameters(), lr=0.1)

def second(net, head):
    return torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
""",
    "the very same module, two algorithms": """
import torch

def f(net):
    warm = torch.optim.Adam(net.parameters())
    fine = torch.optim.LBFGS(net.parameters())
    return warm, fine
""",
}
