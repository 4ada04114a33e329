import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
head = nn.Linear(8, 5)
optimizer = torch.optim.AdamW([*layer.parameters(), *head.parameters()], lr=1e-3)
mask = nn.Transformer.generate_square_subsequent_mask(6)
y = torch.randn(64, 5)
y[5, 2] = float("nan")
loader = DataLoader(TensorDataset(torch.randn(64, 6, 8), y), batch_size=8, shuffle=True)
for epoch in range(2):
    for x, target in loader:
        logits = head(layer(x, src_mask=mask, is_causal=True)[:, -1])
        logits = logits.masked_fill(torch.tensor([False, True, False, False, False]), float("-inf"))
        known = ~target.isnan()
        known[:, 1] = False
        loss = ((logits - target)[known] ** 2).mean() - logits.log_softmax(1)[:, 0].mean()
        unused = nn.functional.mse_loss(logits, target)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(layer.parameters(), float("inf"))
        optimizer.step()
    with torch.no_grad():
        nn.functional.mse_loss(torch.full((2,), float("nan")), torch.zeros(2))
