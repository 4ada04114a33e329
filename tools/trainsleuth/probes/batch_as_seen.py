"""What enters the model, batch by batch: are these the examples that were meant?

Reads the batches as the model gets them and as the loader gives them: shapes, ranges, labels, and a code
of every example, so that repeated examples are counted over batches, workers and the split. Pictures are
written as a PNG grid, sound as WAV and spectrogram, token ids are decoded when a tokenizer is in reach.

Fails on: batches in which all examples are the same; a loader that gives the same batch again and again;
examples that come once per worker; evaluation examples that were trained on; evaluation inputs on another
scale than training inputs; batches of a single class each; targets that are one value in every batch.
A pass shows ranges and counts and rules these out for the batches seen. Whether a label is right only a
person can see: look at the files.
Cost: a few percent, limited by itself: when it takes longer, only every tenth batch is read.
Cannot see: inputs that are no batch of plain tensors; an overlap of examples that are augmented anew each time, unless
the data sets keep them as tensors, arrays or paths.

Bad:
    self.generator = numpy.random.default_rng(0)  # each worker has the same one

Good:
    worker_init_fn=lambda worker: dataset.reseed(base_seed + worker)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainsleuth.finding import Family, Finding, Severity
from trainsleuth.trace import Event, Trace, place, shown

EXPERIMENT = "observe"
NEEDED_BATCHES = 3
STANDING = 0.8  # of the batches that enter are the one before; a new one may come with each epoch
STEPS_OF_ONE_BATCH = 15
NEEDED_ROWS = 4  # of a batch whose examples are all the same
REPEATED = 0.2  # of the examples of one pass that came before in it
LEAKED = 0.02  # of the distinct evaluation examples; below it chance duplicates of the data are the likelier reason
WHOLE = 0.95  # of them: evaluation on the training data themselves, which is usually meant
OTHER_SCALE = 4.0  # ratio of the standard deviations of evaluation and training inputs
OTHER_PLACE = 3.0  # distance of their means in standard deviations
SINGLE_CLASS_BATCHES = 5
SINGLE_CLASS_SHARE = 0.6  # of the batches; where two classes meet, a sorted batch holds both
WITHOUT_ORDER = ("SequentialSampler", "RandomSampler", "DistributedSampler", "_InfiniteConstantSampler")


def probe(trace: Trace) -> Iterator[Finding]:
    entered = [event for event in trace.events("entered") if event["role"] == "train"]
    if not entered:
        yield Finding(by="probe:batch_as_seen", outcome="open", family="data",
                      message="no tensor batch entered a module in training mode, so no example was looked at",
                      next="print what enters the loss by hand")  # fmt: skip
        return
    rules = (
        _alike,
        _standing,
        _standing_between,
        _repeated,
        _leaked,
        _stored_twice,
        _other_scale,
        _single_class,
        _constant_targets,
        _overwritten,
    )
    found = [finding for rule in rules for finding in rule(trace)]
    yield from found
    if not any(finding.is_alarm for finding in found):
        yield from _passes(trace, entered)


def _fail(site: Event, message: str, suspect: str, severity: Severity = "warning", **more: Any) -> Finding:
    path, line = place(site.get("site"))
    more.setdefault("confidence", "high")
    family: Family = "data"
    return Finding(by="probe:batch_as_seen", outcome="fail", severity=severity, family=family, message=message,
                   path=path, line=line, suspects=(suspect,), **more)  # fmt: skip


def _last(trace: Trace, kind: str, *keys: str) -> list[Event]:
    """The last event of this kind for each combination of these fields."""
    latest = {tuple(event[key] for key in keys): event for event in trace.events(kind)}
    return list(latest.values())


def _entrance(trace: Trace, rows: Event) -> Event:
    """How the batches of this way into the model looked; where they entered."""
    same = [e for e in trace.events("entered") if (e["role"], e["root"]) == (rows["role"], rows["root"])]
    return next((e for e in same if e["loader"] == rows["loader"]), same[0] if same else {})


def _loader(trace: Trace, number: int | None) -> Event:
    return next((event for event in trace.events("loader") if event["loader"] == number), {})


# -- examples ------------------------------------------------------------------------------


def _alike(trace: Trace) -> Iterator[Finding]:
    """Every batch holds one example over and over."""
    for rows in _last(trace, "rows", "role", "root", "loader"):
        size = rows["rows"] / max(1, rows["read"])
        if (
            rows["role"] != "train"
            or rows["read"] < NEEDED_BATCHES
            or size < NEEDED_ROWS
            or rows["alike"] < rows["read"]
        ):
            continue
        entrance = _entrance(trace, rows)
        if "shown" not in entrance or (rows["standing"] == rows["read"] - 1 and rows["distinct"] > 1):
            continue
        yield _fail(
            entrance,
            f"in all {rows['read']} batches read at {shown(entrance)} the {size:.0f} rows of {entrance['main']!r} are "
            "identical; expected different examples",
            "bad-data-values",
            severity="error",
            measured={"batches": rows["read"], "rows_per_batch": round(size, 1)},
            next="print two examples of the data set side by side: a buffer that is written over, or an index that is ignored",
        )


def _standing(trace: Trace) -> Iterator[Finding]:
    """A loader of several batches gives the same examples at every step of a pass."""
    for seen in sorted(trace.events("loader_pass"), key=lambda event: -event["read"]):
        loader = _loader(trace, seen["loader"])
        if seen["read"] < NEEDED_BATCHES + 2 or seen["standing"] < seen["read"] - 1 or not seen["telling"]:
            continue
        if loader.get("batches") == 1:
            continue
        yield _fail(
            loader,
            f"{_named(loader)} gave the same {seen['rows'] // seen['read']} examples in all {seen['read']} batches of one "
            "pass; expected new ones",
            "bad-data-values",
            measured={"batches": seen["read"], "distinct": seen["distinct"]},
            next="look at __getitem__ or __iter__ of the data set: the index or the position is ignored",
        )
        return


def _standing_between(trace: Trace) -> Iterator[Finding]:
    """The loader gives new examples, and the model gets the same batch at every step."""
    given: dict[int, int] = {}
    for seen in trace.events("loader_pass"):
        given[seen["loader"]] = max(given.get(seen["loader"], 0), seen["distinct"])
    evaluating = {rows["loader"] for rows in trace.events("rows") if rows["role"] == "eval"}
    for rows in _last(trace, "rows", "role", "root", "loader"):
        if rows["role"] != "train" or rows["read"] < NEEDED_BATCHES + 2 or not rows["telling"]:
            continue
        if rows["loader"] in evaluating:
            continue  # it came last, but its batches are not what is trained on
        if rows["standing"] < STANDING * (rows["read"] - 1):
            continue
        entrance = _entrance(trace, rows)
        gave, loader = given.get(rows["loader"], 0), _loader(trace, rows["loader"])
        asked_once = rows["standing"] == rows["read"] - 1 >= STEPS_OF_ONE_BATCH and _gives_more(loader)
        if gave <= 2 * rows["distinct"] and not asked_once:
            continue
        what = (
            f"while the loader gave {gave} different ones"
            if gave > rows["distinct"]
            else f"though {_named(loader)} has more"
        )
        yield _fail(
            entrance,
            f"{entrance['main']!r} at {shown(entrance)} is one batch over and over, {rows['distinct']} examples in {rows['read']} "
            f"batches read, {what}; expected each batch of the loader to reach the model",
            "bad-data-values",
            confidence="high" if gave > 2 * rows["distinct"] else "medium",
            measured={"batches": rows["read"], "distinct": rows["distinct"], "given": gave},
            next="look between the loop's head and this line for a variable that keeps the first batch",
        )


def _gives_more(loader: Event) -> bool:
    """Does this loader hold several batches, or a stream of them?"""
    batches = loader.get("batches")
    return bool(loader) and (batches > 1 if batches is not None else loader.get("cls") == "DataLoader")


def _named(loader: Event) -> str:
    workers = f" with {loader['num_workers']} workers" if loader.get("num_workers") else ""
    return f"the {loader.get('cls', 'loader')} over {loader.get('dataset', 'its data')}{workers}"


def _repeated(trace: Trace) -> Iterator[Finding]:
    """Examples come several times in one pass of a loader that should give each once."""
    for seen in _last(trace, "loader_pass", "loader"):
        loader = _loader(trace, seen["loader"])
        again = seen["telling"] - seen["distinct"]
        if seen["read"] < NEEDED_BATCHES or again < REPEATED * seen["rows"] or seen["standing"] >= seen["read"] - 1:
            continue
        if loader.get("replacement") or loader.get("sampler") not in WITHOUT_ORDER:
            continue
        times = seen["telling"] / seen["distinct"]
        workers = loader.get("num_workers") or 0
        if workers < 2 or abs(times - workers) > 0.3:
            continue  # the data may well hold them twice
        yield _fail(
            loader,
            f"{_named(loader)} gave {again} of {seen['telling']} examples again within one pass, each {times:.1f} times, as "
            "often as there are workers; expected each once",
            "bad-data-values",
            measured={"examples": seen["telling"], "distinct": seen["distinct"], "workers": workers},
            next="split the stream by torch.utils.data.get_worker_info(), or seed each worker on its own",
            claims=("loader-worker-seeds",),
        )


def _leaked(trace: Trace) -> Iterator[Finding]:
    """Some evaluation examples were trained on, though the two loaders read different data sets."""
    for overlap in _last(trace, "overlap", "root", "eval_loader", "train_loader"):
        share = overlap["shared"] / max(1, overlap["distinct"])
        if overlap["same_data"] is not False or share < LEAKED:
            continue
        is_chance = _repeats_itself(trace, overlap["train_loader"])
        is_alarm = share < WHOLE and not is_chance
        entrance = _entrance(trace, {"role": "eval", "root": overlap["root"], "loader": overlap["eval_loader"]})
        yield _fail(
            entrance,
            f"{overlap['shared']} of {overlap['distinct']} evaluation examples at {shown(entrance)} were also trained on "
            f"({share:.1%}), value for value; expected none"
            + (", but the training data hold the same examples several times too" if is_chance else ""),
            "split-leak",
            severity="warning" if is_alarm else "note",
            confidence="high" if is_alarm else "low",
            measured={"shared": overlap["shared"], "evaluated": overlap["distinct"], "share": round(share, 4)},
            next="split before copying, augmenting or windowing the data, and compare the hashes of both parts",
            claims=("leakage-is-widespread", "augment-after-split"),
        )


def _stored_twice(trace: Trace) -> Iterator[Finding]:
    """The data sets keep the same examples, which augmentation makes differ in the batches."""
    found = {overlap["eval_loader"] for overlap in trace.events("overlap") if overlap["shared"]}
    for stored in trace.events("stored_overlap"):
        share = stored["shared"] / max(1, stored["distinct"])
        repeats = stored["trained"] - stored["trained_distinct"] > LEAKED * stored["trained"]
        if stored["eval_loader"] in found or not LEAKED <= share < WHOLE or repeats:
            continue
        loader = _loader(trace, stored["eval_loader"])
        yield _fail(
            loader,
            f"{stored['shared']} of {stored['distinct']} examples that {_named(loader)} evaluates are kept by "
            f"{_named(_loader(trace, stored['train_loader']))} too, which trains ({share:.1%}, compared in {stored['attribute']!r}, before any "
            "augmentation); expected none",
            "split-leak",
            measured={"shared": stored["shared"], "evaluated": stored["distinct"], "share": round(share, 4)},
            next="split before copying or augmenting the data, and compare the indices or paths of both parts",
            claims=("leakage-is-widespread", "augment-after-split"),
        )
        return


def _repeats_itself(trace: Trace, loader: int) -> bool:
    """Do examples come several times within one pass of training? Then few are possible, or they were drawn twice."""
    passes = [event for event in trace.events("loader_pass") if event["loader"] == loader]
    return any(event["telling"] - event["distinct"] > LEAKED * event["telling"] for event in passes)


def _overwritten(trace: Trace) -> Iterator[Finding]:
    seen = trace.events("overwritten")
    if len(seen) >= NEEDED_BATCHES:
        loader = _loader(trace, seen[0]["loader"])
        yield _fail(
            loader,
            f"{_named(loader)} writes each batch over the one before: {len(seen)} batches that were still held had the "
            "values of the next one; a program that keeps batches then sees one batch many times",
            "bad-data-values",
            severity="note",
            measured={"overwritten": len(seen)},
            next="copy what the data set returns (clone, numpy copy) unless no batch outlives its step",
        )


# -- values --------------------------------------------------------------------------------


def _other_scale(trace: Trace) -> Iterator[Finding]:
    """Inputs of evaluation lie elsewhere than those of training."""
    by_root: dict[int, dict[str, list[Event]]] = {}
    for event in trace.events("entered"):
        main: Event = next((t for t in event["tensors"] if t["name"] == event["main"]), {})
        if isinstance(main.get("std"), float) and isinstance(main.get("mean"), float) and main.get("finite"):
            facts = {**main, "event": event}
            by_root.setdefault(event["root"], {}).setdefault(event["role"], []).append(facts)
    for roles in by_root.values():
        train = roles.get("train", [])
        for evaluated in roles.get("eval", []):
            if evaluated["event"]["loader"] is None or not train or len(evaluated["shape"]) < 2:
                continue
            if any(not _is_elsewhere(evaluated, one) for one in train):
                continue
            one, event = train[0], evaluated["event"]
            yield _fail(
                event,
                f"what is evaluated at {shown(event)} has mean {evaluated['mean']:.3g} and standard deviation "
                f"{evaluated['std']:.3g} where training inputs have {one['mean']:.3g} and {one['std']:.3g}; expected the "
                "same preparation for both",
                "preprocessing-mismatch",
                confidence="medium",
                measured={"train_mean": one["mean"], "train_std": one["std"], "eval_mean": evaluated["mean"],
                          "eval_std": evaluated["std"]},
                next="compare the transforms of the two data sets line by line",
                claims=("visualise-right-before-model",),
            )  # fmt: skip
            break


def _is_elsewhere(one: Event, other: Event) -> bool:
    low, high = sorted((one["std"], other["std"]))
    if high == 0.0:
        return False
    return bool(high > OTHER_SCALE * low or abs(one["mean"] - other["mean"]) > OTHER_PLACE * high)


def _single_class(trace: Trace) -> Iterator[Finding]:
    """Each batch holds examples of one class only."""
    counted = _last(trace, "label_counts", "fn", "site", "lib", "classes")
    calls_per_step = sum(event["calls"] for event in counted) / max(1, trace.steps)
    if len(trace.stepping) > 1 or calls_per_step > 1.5:
        return  # a discriminator sees one class at a time
    for labels in counted:
        several = len(labels["single_labels"]) > 1
        needed = SINGLE_CLASS_SHARE if several else 1.0
        if labels["batches"] < SINGLE_CLASS_BATCHES or labels["classes"] < 2:
            continue
        if labels["single"] < needed * labels["batches"]:
            continue
        what = (
            "each of a single class: the data are sorted by label and not shuffled" if several else "all of one class"
        )
        yield _fail(
            labels,
            f"the labels at {shown(labels)} are {what}, in {labels['single']} of {labels['batches']} batches of {labels['batch']}; expected a "
            f"mixture of the {labels['classes']} classes",
            "too-little-or-unbalanced-data",
            measured={"batches": labels["batches"], "classes": labels["classes"], "distinct": labels["distinct"]},
            next="pass shuffle=True to the loader, or shuffle the list of examples once" if several else "count the labels of the data set",
            claims=("class-imbalance-accuracy",),
        )  # fmt: skip


# -- what was seen -------------------------------------------------------------------------


def _constant_targets(trace: Trace) -> Iterator[Finding]:
    """The loader's targets are one value, in every batch."""
    for targets in _last(trace, "targets", "fn", "site", "lib"):
        if targets["read"] < SINGLE_CLASS_BATCHES or targets["given"] < targets["read"] or len(targets["values"]) != 1:
            continue
        yield _fail(
            targets,
            f"the targets of {targets['fn']} at {shown(targets)} are {targets['values'][0]:g} throughout, in all {targets['read']} "
            "batches read; expected targets that differ",
            "too-little-or-unbalanced-data",
            measured={"batches": targets["read"], "value": targets["values"][0]},
            next="print the targets of the data set before and after their preparation",
        )


def _passes(trace: Trace, entered: list[Event]) -> Iterator[Finding]:
    told: dict[int, Event] = {}
    for event in entered:
        told.setdefault(event["root"], event)
    for root, event in told.items():
        rows = [r for r in _last(trace, "rows", "role", "root", "loader") if (r["role"], r["root"]) == ("train", root)]
        path, line = place(event.get("site"))
        main = next(t for t in event["tensors"] if t["name"] == event["main"])
        total, distinct, telling = (sum(r[key] for r in rows) for key in ("rows", "distinct", "telling"))
        read, calls = (sum(r[key] for r in rows) for key in ("read", "calls"))
        files = [f"{one['what']}: {one['path'] or ' / '.join(one['lines'])}" for one in event["shown"]]
        yield Finding(
            by="probe:batch_as_seen", outcome="pass", confidence="medium", family="data", path=path, line=line,
            message=f"{event['cls']} at {shown(event)} gets {_described(main)}; {total} rows in {read} batches"
            + (f" of {calls}" if read < calls else "") + f", {distinct} distinct of {telling} that can be told apart"
            + _labels(trace) + "".join(f". {one}" for one in files),
            measured={"rows": total, "distinct": distinct, "batches": read},
            next="look at the files: are these the examples that were meant, and do the labels fit?" if files else "",
        )  # fmt: skip


def _described(main: Event) -> str:
    text = f"{main['name']!r} {main['dtype']} {main['shape']}"
    if isinstance(main.get("min"), float):
        text += f" in [{main['min']:.4g}, {main['max']:.4g}]"
    if isinstance(main.get("mean"), float):
        text += f", mean {main['mean']:.3g}, std {main['std']:.3g}"
    if main.get("constant_columns"):
        text += f", {main['constant_columns']} of {main['shape'][1]} columns constant in the first batch"
    if main.get("share_of_it", 0.0) > 0.2:
        text += f", {main['share_of_it']:.0%} of it {main['last_column_mode']} (padding?)"
    return text


def _labels(trace: Trace) -> str:
    counted = _last(trace, "label_counts", "fn", "site", "lib", "classes")
    if not counted or not counted[0]["total"]:
        return ""
    labels = counted[0]
    most = ", ".join(f"{value} {count / labels['total']:.0%}" for value, count in labels["top"][:4])
    return f"; {labels['distinct']} of {labels['classes']} classes occur in {labels['total']} labels ({most})"
