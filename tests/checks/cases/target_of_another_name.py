"""Programs for target-of-another-name."""

from ._programs import mutant

_NOISE = """
import torch
import torch.nn.functional as F

def p_losses(model, x_start, t, mix, optimizer):
    noise = torch.randn_like(x_start)
    predicted_noise = model(mix(x_start, t, noise), t)
    loss = F.mse_loss(predicted_noise, noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_CLASS = """
import torch
from torch import nn

class Trainer:
    def __init__(self, net, optimizer):
        self.net, self.optimizer = net, optimizer
        self.criterion = nn.L1Loss()

    def step(self, batch):
        image, depth, edges = batch
        depth_pred = self.net(image)
        loss = self.criterion(depth_pred, depth)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return edges.mean()
"""
_BOXES = """
import torch
import torch.nn.functional as F

def box_loss(net, features, boxes, anchors):
    pred_boxes, confidence = net(features)
    return F.smooth_l1_loss(pred_boxes, boxes) + confidence.mean() + anchors.sum() * 0
"""
_LIGHTNING = """
import pytorch_lightning as pl
import torch.nn.functional as F

class Regressor(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        x, price, area = batch
        price_hat = self(x, area).squeeze(-1)
        return F.huber_loss(price_hat, price)
"""
_KEYWORDS = """
import torch

class Model(torch.nn.Module):
    def forward(self, speech, pitch, energy):
        estimated_pitch = self.predict(speech)
        loss = torch.nn.functional.mse_loss(estimated_pitch, pitch)
        return loss, energy
"""
SILENT = {
    "noise": _NOISE,
    "a class": _CLASS,
    "boxes": _BOXES,
    "lightning": _LIGHTNING,
    "keywords": _KEYWORDS,
    "truth by another name": mutant(_CLASS, ("self.criterion(depth_pred, depth)", "self.criterion(depth_pred, target)"), ("image, depth, edges = batch", "image, depth, edges = batch\n        target = depth.log()")),
    "nothing of that name": mutant(_NOISE, ("noise = torch.randn_like(x_start)", "eps = torch.randn_like(x_start)"), ("t, noise), t)", "t, eps), t)"), ("(predicted_noise, noise)", "(predicted_noise, eps)")),
    "a vague name": mutant(_BOXES, ("net, features, boxes, anchors", "net, features, boxes, anchors, mask"), ("F.smooth_l1_loss(pred_boxes, boxes)", "F.binary_cross_entropy(pred_mask, boxes)"), ("pred_boxes, confidence", "pred_mask, confidence")),
    "both": mutant(_NOISE, ("F.mse_loss(predicted_noise, noise)", "F.mse_loss(predicted_noise, noise) + F.mse_loss(predicted_noise, x_start)")),
}  # fmt: skip
FAILS = {
    "the image": mutant(_NOISE, ("F.mse_loss(predicted_noise, noise)", "F.mse_loss(predicted_noise, x_start)")),
    "edges": mutant(_CLASS, ("self.criterion(depth_pred, depth)", "self.criterion(depth_pred, edges)")),
    "anchors": mutant(_BOXES, ("(pred_boxes, boxes)", "(pred_boxes, anchors)")),
    "exchanged": mutant(_LIGHTNING, ("F.huber_loss(price_hat, price)", "F.huber_loss(area, price_hat)")),
    "energy": mutant(_KEYWORDS, ("(estimated_pitch, pitch)", "(estimated_pitch, energy)")),
}  # fmt: skip

SILENT["the name of the model"] = """
import torch
import torch.nn.functional as F

def distil(student, teacher, x, y, optimizer):
    student_pred = student(x)
    loss = F.cross_entropy(student_pred, y) + F.mse_loss(student_pred, teacher(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
SILENT["the name of the input"] = """
import torch
import torch.nn.functional as F

def step(encoder, head, text, image, y, optimizer):
    h = encoder(text)
    text_pred = head(h)
    loss = F.cross_entropy(text_pred, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return image
"""
