"""What the verification of the lore found, as an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from trainsleuth.answers.answer import FOUND, NOTHING_WRONG, Answer, Section
from trainsleuth.evidence import Defect, Library, Sighting


def evidence_answer(
    library: Library, defects: Sequence[Defect], sightings: Sequence[Sighting], missing: Mapping[str, str]
) -> Answer:
    """`missing` maps a source that could not be read to the reason."""
    states = Counter(one.state for one in sightings)
    measured = sum(len(says) for says in library.experiments.values())
    head = (
        f"{len(library.claims)} claims, {measured} of them measured here; {len(library.sources)} sources; "
        f"{len(library.pages)} pages; {len(defects)} defect{'s' * (len(defects) != 1)}"
    )
    seen = ", ".join(f"{states[state]} {state}" for state in ("found", "moved", "gone", "not looked at"))
    looked = "" if library.texts else "; give texts with --source, or ask the web with --fetch"
    return Answer(
        head=head,
        sections=(
            Section("defects:", tuple(f"  {one.kind}  {one.where}: {one.message}" for one in defects)),
            Section("sources not read:", tuple(f"  {id}: {why}" for id, why in missing.items())),
        ),
        plain={
            "claims": len(library.claims), "measured": measured, "sources": len(library.sources),
            "pages": len(library.pages), "anchors": dict(states), "texts": sorted(library.texts),
            "not_read": dict(missing), "defects": [asdict(one) for one in defects],
        },
        tail=f"{len(sightings)} anchors: {seen}{looked}",
        code=FOUND if defects else NOTHING_WRONG,
    )  # fmt: skip
