from torch import nn

from .scenes import NUM_KINDS


class Detector(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(2 * width * 25, 96),
            nn.ReLU(),
        )
        self.box_head = nn.Linear(96, 4)
        self.kind_head = nn.Linear(96, NUM_KINDS)

    def forward(self, pictures):
        features = self.backbone(pictures)
        return {"box": self.box_head(features).sigmoid(), "kind": self.kind_head(features)}
