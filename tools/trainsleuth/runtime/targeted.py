"""What was counted of the sequences of one loss: how they end, and whether only their beginning is learned."""

MOST_KINDS = 32  # of tokens that are told apart
MOST_BATCHES = 60
MOST_ROWS = 16  # of a batch that are walked through
UNKNOWN = -1_000_000  # the token behind the last place, where its label does not count


class Targeted:
    """`ends` are the ids that end a sequence; a row is one sequence of which at least one token is a target."""

    def __init__(self, ends):
        self.ends, self.calls, self.rows, self.others = ends, 0, 0, 0
        self.counted = self.ignored = 0  # tokens; those ignored behind the last target, without filling
        self.is_end_counted, self.ended, self.attended = False, 0, 0
        self.batches, self.last, self.single = [], set(), 0
        self.begun = self.whole = self.elsewhere = self.begun_and_ended = 0
        self.lengths, self.left = set(), set()

    def add(self, torch, reading, counted):
        """`counted` by place: the target of a place is the token at the next one, the last of which only its label tells."""
        rows, labels = reading.rows, reading.labels
        beyond = labels.shape[1] == rows.shape[1]
        last = labels[:, -1:].masked_fill(~counted[:, -1:], UNKNOWN)
        tokens = torch.cat([rows, last], 1) if beyond else rows
        counted = torch.cat([torch.zeros_like(counted[:, :1]), counted], 1)
        some = counted.any(1)
        tokens, counted = tokens[some], counted[some]
        self.calls += 1
        if len(tokens):
            mask = reading.mask if is_mask_of(reading.mask, rows) else None
            self._ending(torch, tokens, counted, None if mask is None else mask.cpu()[some])
            for row, places in list(zip(tokens, counted))[:MOST_ROWS]:
                row = row.tolist()
                self._beginning(row[:-1] if row[-1] == UNKNOWN else row, places.nonzero().flatten().tolist())

    def _ending(self, torch, tokens, counted, mask):
        """How many ends stand right behind the last target of each sequence."""
        is_end = (tokens[:, :, None] == torch.tensor(self.ends, dtype=tokens.dtype)).any(-1)
        numbers = torch.arange(tokens.shape[1])
        last = torch.where(counted, numbers, 0).max(1).values
        runs = (is_end | (numbers <= last[:, None])).long().cumprod(1).sum(1) - last - 1
        self.rows += len(tokens)
        self.counted += int(counted.sum())
        self.single += int((counted.sum(1) == 1).sum())
        self.is_end_counted |= bool((is_end & counted).any())
        self.ended += int((runs > 0).sum())
        if mask is not None:
            attended = torch.cat([mask != 0, torch.zeros(len(mask), 3, dtype=torch.bool)], 1)
            here, next_one = (attended.gather(1, last[:, None] + more)[:, 0] for more in (1, 2))
            self.attended += int(((runs > 0) & here & ~next_one).sum())
        if len(self.batches) < MOST_BATCHES:
            self.batches.append((tokens.shape[1], int(runs.min()), int(runs.max())))
        for token in tokens.gather(1, last[:, None])[:, 0].tolist()[:MOST_ROWS]:
            if len(self.last) < MOST_KINDS:
                self.last.add(token)

    def _beginning(self, tokens, places):
        first, behind = places[0], places[-1] + 1
        left = content(tokens[behind:])
        is_from_start = len(set(tokens[:first])) <= 1 and places[-1] - first + 1 == len(places)
        if not is_from_start:
            self.elsewhere += 1
        elif not left:
            self.whole += 1
        else:
            self.begun += 1
            self.ignored += len(left)
            self.begun_and_ended += any(token in self.ends for token in tokens[behind:])
            for known, values in ((self.lengths, [behind]), (self.left, left)):
                known.update(values[: MOST_KINDS - len(known)])

    def facts(self):
        return {
            "calls": self.calls, "rows": self.rows, "others": self.others, "counted": self.counted, "ends": self.ends,
            "is_end_counted": self.is_end_counted, "ended": self.ended, "attended": self.attended, "batches": self.batches,
            "last": len(self.last), "single": self.single, "begun": self.begun, "whole": self.whole, "elsewhere": self.elsewhere,
            "ignored": self.ignored, "begun_and_ended": self.begun_and_ended, "lengths": len(self.lengths), "left": len(self.left),
        }  # fmt: skip


def content(tokens):
    """Without what fills it up, or ends it: the one value that its last places hold."""
    size = len(tokens)
    while size and tokens[size - 1] == tokens[-1]:
        size -= 1
    return tokens[:size]


def is_mask_of(mask, rows):
    return mask is not None and getattr(mask, "shape", None) == rows.shape and bool((mask == 0).any())
