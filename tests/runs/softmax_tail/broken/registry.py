"""Names in config.json -> things that can be built."""

import torch
from torch import nn

MODELS = {}
LOSSES = {
    "cross_entropy": nn.CrossEntropyLoss,
    "multi_margin": nn.MultiMarginLoss,
}
OPTIMIZERS = {
    "adam": torch.optim.Adam,
    "sgd": torch.optim.SGD,
}


def register_model(name):
    def wrap(cls):
        MODELS[name] = cls
        return cls

    return wrap


def build_model(config):
    options = dict(config["model"])
    return MODELS[options.pop("name")](classes=config["classes"], **options)


def build_criterion(config):
    return LOSSES[config["loss"]["name"]](**config["loss"]["args"])


def build_optimizer(config, parameters):
    return OPTIMIZERS[config["optimizer"]["name"]](parameters, **config["optimizer"]["args"])
