from torch import nn
from torch.nn import functional as F


class GraphConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.own = nn.Linear(inputs, outputs)
        self.neighbours = nn.Linear(inputs, outputs, bias=False)

    def forward(self, nodes, adjacency):
        return self.own(nodes) + self.neighbours(adjacency @ nodes)


class GraphNet(nn.Module):
    def __init__(self, inputs, hidden, classes, depth=3, dropout=0.3):
        super().__init__()
        sizes = [inputs] + [hidden] * depth
        self.convs = nn.ModuleList([GraphConv(a, b) for a, b in zip(sizes, sizes[1:])])
        self.norm = nn.LayerNorm(hidden)
        self.readout = nn.Linear(hidden, classes)
        self.dropout = dropout

    def forward(self, nodes, adjacency):
        for conv in self.convs:
            nodes = F.relu(conv(nodes, adjacency))
            nodes = F.dropout(nodes, self.dropout, training=self.training)
        return self.readout(self.norm(nodes))
