"""One event "nonfinite" in words: the sentence of the finding and the links of its chain."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Link
from trainsleuth.probes import _arithmetic as arithmetic
from trainsleuth.trace import Event, place, shown


def sentence(event: Event) -> str:
    links = event["chain"]
    first, last = links[0], links[-1]
    said = f"in step {event['n']} (counted from 0) the {noticed(event)}: "
    said += _source(first, event) if first["kind"] == "source" else _made(first)
    why = arithmetic.reason(first) if first["kind"] != "source" else ""
    if why:
        said += f" ({why})"
    if last is not first and last["kind"] == "turned":
        why = arithmetic.reason(last)
        said += f", and {_operation(last)} made {_counts(last['output'])} of it" + (f" ({why})" if why else "")
    return said + "; expected finite values"


def noticed(event: Event) -> str:
    if event.get("crash"):
        return "program ended with an exception after a module returned values that are not finite"
    if event.get("scale") is not None:
        return f"gradient scaler's scale fell to {event['scale']:g}: the gradients overflow at any scale"
    if event.get("late"):
        return "loss or a gradient was not finite"
    micro = f" of backward {event['micro'] + 1} of the step" if event.get("micro") else ""
    return f"{event['noticed']}{micro} became {event['value']}"


def _source(link: Event, event: Event) -> str:
    held = _counts(link["inputs"][0])
    if link.get("name") is None:
        return f"a value that was not made by torch operations holds {held}"
    name = link["name"] if link["source"] != "input" else f"argument '{link['name']}'"
    owner = f" of {link['of']}" if link.get("of") else ""
    row = f", first in row {link['at'][0]}" if link["source"] in ("input", "batch") and link["at"] else ""
    said = f"{link['source'] if link['source'] != 'input' else 'the'} {name}{owner} held {held} before{row}"
    if link["source"] == "parameter" and event["n"]:
        said += "; no gradient was bad until then, so the update itself or code that writes weights made it"
    return said


def _made(link: Event) -> str:
    written = " (a value that the program writes itself)" if link.get("constant") else ""
    return f"{_operation(link)} made {_counts(link['output'])}{written} from {_given(link)}"


def _operation(link: Event) -> str:
    name = f"{link['op']} at {shown(link)}"
    if link["direction"] == "backward":
        name = f"{link['op']} in the derivative ({link['node']}) of {shown(link)}"
    return name + (f" in {link['module']}" if link.get("module") else "")


def _given(link: Event) -> str:
    shown_inputs = [
        f"{given['name']} {given['shape']} in [{given['min']:.4g}, {given['max']:.4g}]"
        + (f" with {_zeros(given)}" if given["zeros"] else "")
        for given in link["inputs"]
        if "min" in given
    ]
    return " and ".join(shown_inputs[:2]) or "its input"


def _zeros(held: Event) -> str:
    return "1 zero" if held["zeros"] == 1 else f"{held['zeros']} zeros"


def _counts(held: Event) -> str:
    parts = [
        f"{held[name]} {word}" for name, word in (("nan", "NaN"), ("inf", "inf"), ("-inf", "-inf")) if name in held
    ]
    return " and ".join(parts) or "no finite value"


def chain(event: Event) -> Iterator[Link]:
    for link in event["chain"]:
        path, line = place(link.get("site"))
        if path is not None and line is not None:
            yield Link(path, line, _step_of_chain(link))
    path, line = place(event["site"])
    if path is not None and line is not None and not event.get("crash"):
        yield Link(path, line, f"the {event['noticed']} is {event['value']}")


def _step_of_chain(link: Event) -> str:
    if link["kind"] == "source":
        return f"hands {_counts(link['inputs'][0])} to argument '{link['name']}' of {link['of']}, first at {link['at']}"
    why = arithmetic.reason(link)
    verb = {"passed": "takes it in and gives", "turned": "turns it into"}.get(link["kind"], "makes")
    return f"{_operation(link)} {verb} {_counts(link['output'])}, first at {link['at']}" + (f": {why}" if why else "")


def evidence(evidence: list[Event]) -> str:
    if not evidence:
        return ""
    told = []
    for item in evidence:
        where = f" at {item['site']}" if item.get("site") else ""
        zeros = [f"{kept['name']} with {_zeros(kept)}" for kept in item["kept"] if kept.get("zeros")]
        told.append(f"{item['op']}{where}" + (f" ({', '.join(zeros)})" if zeros else ""))
    return f"; in the failing step's graph the value was made by {' or '.join(told)}"


def failures(event: Event) -> str:
    return f"; while searching: {event['failures'][0]}" if event["failures"] else ""
