"""Lines that drop values although the model is in evaluation mode, and functions that do so in training mode only."""

import sys

DROPOUTS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
BETWEEN = ("torch.nn.functional", "torch.overrides")
OWN = __name__.rpartition(".")[0] + "."


class DropoutWatch:
    """A context: its value is the list of lines that drop, filled while it lasts; `resting`: of those that do not."""

    def __init__(self, torch, sites):
        self.functional, self.sites, self.active, self.resting = torch.nn.functional, sites, [], []

    def __enter__(self):
        names = [name for name in DROPOUTS if hasattr(self.functional, name)]
        self.originals = {name: getattr(self.functional, name) for name in names}
        for name, original in self.originals.items():
            setattr(self.functional, name, self._dropout(name, original))
        attention = getattr(self.functional, "scaled_dot_product_attention", None)
        if attention is not None:
            self.originals["scaled_dot_product_attention"] = attention
            self.functional.scaled_dot_product_attention = self._attention(attention)
        return self.active

    def __exit__(self, *_):
        for name, original in self.originals.items():
            setattr(self.functional, name, original)

    def _saw(self, name, p, into):
        user, library = self.sites.here()
        seen = {"fn": name, "p": float(p), "site": user, "lib": library}
        if seen not in into:
            into.append(seen)

    def _dropout(self, name, original):
        def dropout(input, p=0.5, training=True, inplace=False):
            if training and p > 0:
                self._saw(name, p, self.active)
            elif p > 0 and not _is_by_a_layer():
                self._saw(name, p, self.resting)
            return original(input, p, training, inplace)

        return dropout

    def _attention(self, original):
        def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, *args, **kwargs):
            if dropout_p > 0:
                self._saw("scaled_dot_product_attention", dropout_p, self.active)
            return original(query, key, value, attn_mask, dropout_p, *args, **kwargs)

        return scaled_dot_product_attention


def _is_by_a_layer():
    """Called by torch's own layers, which are counted as such. Where a mode is in place, functions of torch are called once more within it."""
    frame, name = sys._getframe(2), ""
    while frame is not None and (not name or name.startswith((*BETWEEN, OWN))):
        frame, name = frame.f_back, str(frame.f_globals.get("__name__"))
    return name.startswith("torch.nn.")
