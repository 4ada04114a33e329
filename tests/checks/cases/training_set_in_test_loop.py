"""Programs for training-set-in-test-loop."""

from ._programs import mutant

_SESSIONS = """
import numpy as np
from mine import forward

def train_test(model, train_data, test_data):
    model.train()
    total_loss = 0.0
    slices = train_data.generate_batch(model.batch_size)
    for i, j in zip(slices, np.arange(len(slices))):
        model.optimizer.zero_grad()
        targets, scores = forward(model, i, train_data)
        loss = model.loss_function(scores, targets - 1)
        loss.backward()
        model.optimizer.step()
        total_loss += loss.item()
    model.eval()
    hit = []
    slices = test_data.generate_batch(model.batch_size)
    for i in slices:
        targets, scores = forward(model, i, test_data)
        for score, target, mask in zip(scores, targets, test_data.mask):
            hit.append(np.isin(target - 1, score))
    return np.mean(hit)
"""
_RANGE = """
def fit(model, step, score, train_x, train_y, test_x, test_y, size):
    for start in range(0, len(train_x), size):
        step(model(train_x[start : start + size]), train_y[start : start + size])
    found = []
    for start in range(0, len(test_x), size):
        out = model(test_x[start : start + size])
        found.append(score(out, test_y[start : start + size]))
    return found
"""
SILENT = {
    "sessions": _SESSIONS,
    "range": _RANGE,
    "nearest neighbours": """
def nearest(distance, train_x, train_y, test_x, order):
    for i in range(len(train_x)):
        order.add(train_x[i])
    found = []
    for i in range(len(test_x)):
        distances = [distance(test_x[i], one) for one in train_x]
        found.append(train_y[distances.index(min(distances))])
    return found
""",
    "a score on both": mutant(
        _SESSIONS,
        (
            "    slices = test_data.generate_batch(model.batch_size)\n",
            "    slices = train_data.generate_batch(model.batch_size)\n    for i in slices:\n"
            "        forward(model, i, train_data)\n    slices = test_data.generate_batch(model.batch_size)\n",
        ),
    ),
    "a memory of the training set": """
def fit(model, step, train_data, test_data):
    for i in range(len(train_data)):
        step(model, train_data[i])
    for i in range(len(test_data)):
        yield model(test_data[i], train_data)
""",
}
FAILS = {
    "sessions": mutant(
        _SESSIONS,
        ("forward(model, i, test_data)\n", "forward(model, i, train_data)\n"),
    ),
    "range": mutant(_RANGE, ("out = model(test_x[start", "out = model(train_x[start")),
}
