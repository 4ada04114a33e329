"""Tokens beside what a loss is given as targets: are these the next tokens, the same ones, or those after the next?

Only targets that count are compared: what is below zero is left out by the loss.
"""

NEXT_TOKEN = 0.95  # share of targets that are the input shifted by one, from which a model must be causal
COPIED = 0.999  # share of targets that are the input itself
VARIED = 5  # tokens in the batch, below which that may be chance
LEAST = 4  # targets that count


class Sequences:
    """Tokens, read along one axis, and the targets of the last losses; `arguments` are what entered the model beside the tokens."""

    def __init__(self, tokens, along, arguments, targets):
        self.tokens, self.along = tokens, along
        self.rows = tokens.transpose(1, along)  # a sequence in each
        given = [t for t in targets if not t.is_floating_point()]
        arguments = [self._in_rows(t) for t in arguments if not t.is_floating_point()]
        is_shifted = any(self._is_moved(t, 1) for t in given)
        is_same = any(map(self._is_same, given))
        leads = any(map(self._leads_to_next, arguments))
        self.is_next = is_shifted or (not is_same and leads)
        self.is_copy = is_same and not self.is_next
        self.is_told = is_shifted or is_same  # by the loss itself, which also shows the order of what is flat
        is_moved = any(agree(y[:, :-1], self.rows[:, 1:], NEXT_TOKEN) for y in arguments)
        self.is_twice = is_moved and not self.is_told and any(self._is_moved(t, 2) for t in given)

    def _in_rows(self, tensor):
        return tensor.reshape(self.tokens.shape).transpose(1, self.along)

    def _is_same(self, target):
        """What the loss is given as targets are the tokens that go in, at the same places, perhaps without the last."""
        if len(self.tokens.unique()) < VARIED:
            return False
        return any(agree(y, self.rows[:, : y.shape[1]], COPIED) for y in self._with_places(target))

    def _is_moved(self, target, by):
        """The targets are the tokens that stand so many places later, with a place for each token or one less."""
        length = self.rows.shape[1]
        moved = (y[:, : length - by] for y in self._with_places(target))
        return any(agree(y, self.rows[:, by : by + y.shape[1]], NEXT_TOKEN) for y in moved)

    def _with_places(self, target):
        """With a row for each sequence: as many places as it has, or one less."""
        many, length = self.rows.shape
        for width in (length, length - 1):
            if target.numel() == many * width:
                yield target.reshape(self._shape(width)).transpose(1, self.along)

    def _leads_to_next(self, y):
        """An argument is the next tokens, or the same ones, which the model shifts itself."""
        return agree(y[:, :-1], self.rows[:, 1:], NEXT_TOKEN) or agree(y, self.rows, 1.0)

    def by_place(self, output):
        """(sequence, place, values) of an output; None where it has no such axes. What is flat may leave out the last place."""
        many, length = self.rows.shape
        if output.dim() == 2 and self.is_told:
            for width in (length, length - 1):
                if output.shape[0] == many * width:
                    return output.reshape(*self._shape(width), -1).transpose(1, self.along)
        if output.shape == self.tokens.shape:
            output = output.unsqueeze(-1)  # a score of each place
        is_placed = output.dim() == 3 and output.shape[:2] == self.tokens.shape
        return output.transpose(1, self.along) if is_placed else None

    def _shape(self, width):
        """That of so many places of each sequence, as the tokens lie."""
        many = len(self.rows)
        return (many, width) if self.along else (width, many)

    def most_varied(self):
        """The place in the middle half at which most sequences differ from their neighbours."""
        length = self.rows.shape[1]
        first = length // 4
        differ = (self.rows != self.rows.roll(1, 0)).sum(0)[first : length - first]
        return first + int(differ.argmax())

    def with_others(self, tensor, places):
        """What stands at some places of each sequence is exchanged among them."""
        rows = tensor.transpose(1, self.along).clone()
        rows[:, places] = rows[:, places].roll(1, 0)
        return rows.transpose(1, self.along)


def agree(targets, tokens, share):
    """Are so many of the targets that count these tokens?"""
    counts = targets >= 0
    kept = int(counts.sum())
    return kept >= LEAST and int(((targets == tokens) & counts).sum()) >= share * kept
