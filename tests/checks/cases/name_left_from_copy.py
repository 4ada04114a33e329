"""Programs for name-left-from-copy."""

from ._programs import mutant

_NEIGHBOURS = """
def loss_of(net, noisy, mask1, mask2, take, weight):
    sub1 = take(noisy, mask1)
    sub2 = take(noisy, mask2)
    denoised = net(noisy).detach()
    denoised1 = take(denoised, mask1)
    denoised2 = take(denoised, mask2)
    output = net(sub1)
    expected = denoised1 - denoised2
    return (output - sub2).square().mean() + weight * (output - sub2 - expected).square().mean()
"""
_BOXES = """
def loss_of(pred, target, has_object, crit, B):
    coord_pred = pred[has_object]
    box_pred = coord_pred[:, : 5 * B].contiguous().view(-1, 5)
    class_pred = coord_pred[:, 5 * B :]
    coord_target = target[has_object]
    box_target = coord_target[:, : 5 * B].contiguous().view(-1, 5)
    class_target = coord_target[:, 5 * B :]
    return crit(box_pred, box_target) + crit(class_pred, class_target)
"""
_TARGETS = """
def follow(qf1, qf2, qf1_target, qf2_target, tau):
    for mine, its in zip(qf1.parameters(), qf1_target.parameters()):
        its.data.copy_(tau * mine.data + (1 - tau) * its.data)
    for mine, its in zip(qf2.parameters(), qf2_target.parameters()):
        its.data.copy_(tau * mine.data + (1 - tau) * its.data)
"""
_LOADERS = """
from torch.utils.data import DataLoader

def loaders(train_data, val_data, test_data, size):
    train_loader = DataLoader(train_data, batch_size=size, shuffle=True)
    val_loader = DataLoader(val_data, batch_size=size, shuffle=False)
    test_loader = DataLoader(test_data, batch_size=size, shuffle=False)
    return train_loader, val_loader, test_loader
"""
_JUDGED = """
def step(judge, real, fake, real_label, fake_label, bce):
    real_loss = bce(judge(real), real_label)
    fake_loss = bce(judge(fake), fake_label)
    return real_loss + fake_loss
"""
SILENT = {
    "a name that is nowhere": """
def scaled(data):
    train_x = (data.train_x - data.train_mean) / data.train_std
    test_x = (data.test_x - data.train_mean) / data.train_std
    return train_x, test_x
""",
    "kernels of pairs": """
def fitted(kernel, x_train, x_test):
    k_train = kernel(x_train, x_train)
    k_test = kernel(x_train, x_test)
    return k_train, k_test
""",
    "a statistic of the other that is only shown": """
def scaled(x_train, x_val, show):
    train_mean = x_train.mean(0)
    val_mean = x_val.mean(0)
    show(val_mean)
    x_train = x_train - train_mean
    x_val = x_val - train_mean
    return x_train, x_val
""",
    "neighbours": _NEIGHBOURS,
    "boxes": _BOXES,
    "targets": _TARGETS,
    "loaders": _LOADERS,
    "judged": _JUDGED,
    "settings of the other": mutant(
        _LOADERS,
        (
            "DataLoader(train_data, batch_size=size, ",
            "DataLoader(train_data, batch_size=opt.train.size, num_workers=opt.train.workers, ",
        ),
        (
            "DataLoader(val_data, batch_size=size, ",
            "DataLoader(val_data, batch_size=opt.train.size, num_workers=opt.train.workers, ",
        ),
        (
            "DataLoader(test_data, batch_size=size, ",
            "DataLoader(test_data, batch_size=opt.test.size, num_workers=opt.train.workers, ",
        ),
    ),
    "one network for two": """
def towers(self, x1, x2):
    x1 = self.conv1(x1)
    x2 = self.conv1(x2)
    return self.conv2(x1), self.conv2(x2)
""",
    "both in both lines": """
import torch

def weights(self, channels, modes1, modes2):
    self.weights1 = torch.rand(channels, modes1, modes2)
    self.weights2 = torch.rand(channels, modes1, modes2)
""",
    "by the statistics of the other": """
def scaled(x_train, x_test, mean_train, std_train):
    x_train = (x_train - mean_train) / std_train
    x_test = (x_test - mean_train) / std_train
    return x_train, x_test
""",
    "its type": """
def cut(x1, x2, limit):
    y1 = limit.to(x1.dtype)
    y2 = limit.to(x1.dtype)
    return x1.clamp(max=y1), x2.clamp(max=y2)
""",
    "one after the other": """
def forward(self, x0):
    x1 = self.down(x0)
    x2 = self.down(x1)
    return x2
""",
    "widths and heights": """
def scaled(w, h, image_w, image_h):
    new_w = int(w * min(image_w / w, 1))
    new_h = int(h * min(image_w / w, 1))
    return new_w, new_h
""",
}
FAILS = {
    "neighbours": mutant(_NEIGHBOURS, ("denoised2 = take(denoised, mask2)", "denoised2 = take(denoised, mask1)")),
    "neighbours, the picture": mutant(_NEIGHBOURS, ("sub2 = take(noisy, mask2)", "sub2 = take(noisy, mask1)")),
    "boxes": mutant(_BOXES, ("class_target = coord_target[", "class_target = coord_pred[")),
    "targets": mutant(_TARGETS, ("zip(qf2.parameters()", "zip(qf1.parameters()")),
    "loaders": mutant(_LOADERS, ("DataLoader(test_data", "DataLoader(val_data")),
    "judged": mutant(_JUDGED, ("judge(fake), fake_label", "judge(fake), real_label")),
}
