"""What one must know of a training repository before one changes it: three passes of questions."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import NamedTuple

from trainsleuth.notes import FILE_NAME
from trainsleuth.probes import all_probes

MOST_CHANGED = "git log --format= --name-only | sort | uniq -c | sort -rn | head"
PASSES: Mapping[int, str] = {1: "orientation", 2: "flow", 3: "verification by running"}


class Asked(NamedTuple):
    """A question of one pass. Any of `probes` answers it, by passing or failing; two steps do when it `shows`;
    `command` is another one that helps."""

    id: str
    stage: int
    text: str
    probes: tuple[str, ...] = ()
    shows: bool = False
    command: str = ""


QUESTIONS = (
    Asked("task", 1, "What does the README say that is learned, and from which data?"),
    Asked("launch", 1, "By which command does training start?"),
    Asked("framework", 1, "Which framework holds the loop?"),
    Asked("size", 1, "How large is it, and which files are the largest?"),
    Asked("dependencies", 1, "Which packages does it need?"),
    Asked("configuration-kind", 1, "In which way is it configured: command line, dataclass, Hydra, YAML, JSON, exec?"),
    Asked("hyperparameters", 1, "Where are the hyperparameters and their defaults?"),
    Asked("entry", 1, "Where does the program start, and by which calls does it come to the loop?"),
    Asked("logging", 1, "Where does it log, and with what?"),
    Asked("most-changed", 1, "Which files changed most often in git?", command=MOST_CHANGED),
    Asked("scale", 1, "For which hardware and which scale of data and model is it meant?"),
    Asked("unusual", 1, "What is unusual against a standard pipeline?"),
    Asked("kept", 1, "Is it well kept: tests, dead code, copies?"),
    Asked("data", 2, "Where do batches come from?"),
    Asked("examples", 2, "What happens to a raw example on its way: shape, type and range at each stage?"),
    Asked("batch", 2, "Which shape, type and range does a batch have when it enters the model?", ("batch_as_seen",), shows=True),
    Asked("model", 2, "Where are the model that trains and its forward?"),
    Asked("model-output", 2, "What leaves the model and enters the loss: logits, probabilities ...?", ("loss_contract",), shows=True),
    Asked("loss", 2, "What is minimised, and at which line?"),
    Asked("iteration", 2, "Which statements are one iteration, from fetching the batch to the step?"),
    Asked("optimizer", 2, "Where is the optimizer made, and what does it hold?"),
    Asked("schedule", 2, "What sets the learning rate of a step?"),
    Asked("features", 2, "Which of accumulation, mixed precision, clipping, distribution, compile, EMA, seeds are used?"),
    Asked("evaluation", 2, "Where does it evaluate?"),
    Asked("metrics", 2, "Which data, mode and metric has evaluation, and is the preparation that of training?"),
    Asked("visible-outputs", 2, "Where can outputs be seen or heard while it trains: pictures, sound, text?"),
    Asked("checkpoint", 2, "Where and when is a checkpoint written?"),
    Asked("resume", 2, "Where is state restored when a run resumes?"),
    Asked("checkpoint-content", 2, "Does a checkpoint hold all that a resume needs: optimizer, schedule, scaler, seeds, place in the data?", ("resume",)),
    Asked("paper", 2, "Which section or equation of the paper is which line?"),
    Asked("diagram", 2, "How does data flow, drawn as a diagram?", command="trainsleuth map --format mermaid"),
    Asked("surprises", 2, "What surprises, and where does the code deviate from the paper?"),
    Asked("real-steps", 3, "In which order do the operations of a real step run?", ("step_trace",)),
    Asked("what-moves", 3, "Which parameters get a gradient and really move?", ("parameter_table",)),
    Asked("first-loss", 3, "Is the first loss what chance gives?", ("loss_contract",)),
    Asked("one-batch", 3, "Can it fit one batch?", ("overfit_one_batch",)),
    Asked("learning-rate", 3, "Is the learning rate of each step the one that was meant?", ("learning_rate",)),
    Asked("finite", 3, "Do all numbers stay finite, and if not, where do they break first?", ("first_nonfinite",)),
    Asked("modes", 3, "Does each part run in the mode it should, training or evaluation?", ("modes",)),
    Asked("same-seed", 3, "Do two runs with one seed give the same numbers?", ("determinism",)),
    Asked("data-seen", 3, "What do inputs and labels look like exactly as they enter the model?", ("batch_as_seen",)),
    Asked("batch-independence", 3, "Does an example's output depend on its neighbours in the batch?", ("independence",)),
    Asked("layer-shapes", 3, "Which shape has every layer's output in one step?", ("shapes",)),
    Asked("data-tests", 3, "Do tests hold shapes, augmentation and the separation of the splits?"),
    Asked("prediction", 3, "Change one hyperparameter: was the effect the one written down before?"),
)  # fmt: skip


class Tested(NamedTuple):
    """How a program is started, and in which notes what it shows is kept: "" for those that lie in the root."""

    command: str
    notes: str = ""


def test_of(asked: Asked, tested: Tested) -> str:
    """What to run for an answer; "" where one has to read, or to think."""
    known = [name for name in asked.probes if name in all_probes()]
    if known and not asked.shows:
        return (
            f"trainsleuth probe --only {known[0]} --notes {shlex.quote(tested.notes or FILE_NAME)} -- {tested.command}"
        )
    notes = f" --notes {shlex.quote(tested.notes)}" if tested.notes else ""
    return f"trainsleuth read --observe{notes} -- {tested.command}" if asked.shows else asked.command
