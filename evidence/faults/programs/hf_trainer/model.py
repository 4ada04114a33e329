from data import PAD, WORDS
from torch import nn
from transformers import DistilBertConfig, DistilBertModel

GROUPS = 3


class Classifier(nn.Module):
    """A small DistilBERT body and a head on the mean of its states, padding left out."""

    def __init__(self, groups, width=32):
        super().__init__()
        config = DistilBertConfig(
            vocab_size=WORDS + 1, dim=width, n_layers=2, n_heads=2, hidden_dim=64, pad_token_id=PAD
        )
        self.body = DistilBertModel(config)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.1), nn.Linear(width, groups))

    def forward(self, input_ids, attention_mask):
        states = self.body(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        kept = attention_mask.unsqueeze(-1).float()
        mean = (states * kept).sum(1) / kept.sum(1)
        return {"logits": self.head(self.norm(mean))}
