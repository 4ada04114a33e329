import torch
from torch import nn

from registry import register_model


def double_conv(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1),
        nn.GroupNorm(4, outputs),
        nn.SiLU(),
        nn.Conv2d(outputs, outputs, 3, padding=1),
        nn.SiLU(),
    )


@register_model("unet")
class SmallUNet(nn.Module):
    def __init__(self, classes, width):
        super().__init__()
        self.down1 = double_conv(3, width)
        self.down2 = double_conv(width, 2 * width)
        self.pool = nn.MaxPool2d(2)
        self.grow = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False)
        self.up = double_conv(3 * width, width)
        self.head = nn.Sequential(
            nn.Conv2d(width, width, 1),
            nn.SiLU(),
            nn.Conv2d(width, classes, 1),
        )

    def forward(self, image):
        fine = self.down1(image)
        coarse = self.down2(self.pool(fine))
        merged = torch.cat([fine, self.grow(coarse)], dim=1)
        return self.head(self.up(merged))
