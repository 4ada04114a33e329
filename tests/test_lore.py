"""The lore is found by id, by words and by symptom, and every entry can be traced."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest
from trainsleuth import content, lore
from trainsleuth.bm25 import Ranking, words
from trainsleuth.entry import as_dict, as_text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("loss stuck at 2.3", "PLAYBOOK.md#the-loss-is-stuck"),
        ("my model does not learn, loss is flat", "PLAYBOOK.md#the-loss-is-stuck"),
        ("nan after 500 steps", "PLAYBOOK.md#the-loss-or-a-gradient-is-nan-or-infinite"),
        ("gradients become inf", "PLAYBOOK.md#the-loss-or-a-gradient-is-nan-or-infinite"),
        ("val worse than train", "PLAYBOOK.md#training-is-good-and-validation-is-bad"),
        ("suspiciously high accuracy, maybe a leak", "PLAYBOOK.md#validation-is-too-good"),
        ("the loss explodes", "PLAYBOOK.md#the-loss-explodes-or-diverges"),
        ("results vary from run to run", "PLAYBOOK.md#the-result-differs-per-seed"),
        ("it always predicts the same class", "PLAYBOOK.md#the-outputs-are-constant"),
        ("loss jumps after loading the checkpoint", "PLAYBOOK.md#the-loss-jumps-after-a-resume"),
        ("PINN boundary condition wrong", "PLAYBOOK.md#the-physics-loss-is-low-but-the-boundary-is-wrong"),
        ("learnable temperature does not change", "PLAYBOOK.md#a-scalar-parameter-is-stuck"),
        ("PPO reward does not improve", "PLAYBOOK.md#the-reward-does-not-rise"),
        ("softmax before cross entropy floor", "softmax-before-ce-floor"),
        ("how does the learning rate scale with batch size for Adam", "refs/optimizer.md#batch-size"),
        ("is it a bug to call zero_grad before forward", "zero-grad-position-variants"),
        ("one batch overfit test passes but it is still wrong", "overfit-one-batch-blind-spots"),
        ("Karpathy recipe", "karpathy-recipe"),
    ],
)
def test_a_question_finds_its_entry_near_the_top(question: str, expected: str) -> None:
    assert expected in [entry.id for entry in lore.look_up(question, limit=3)]


def test_an_exact_id_comes_first() -> None:
    for id in [*lore.claims(), *lore.sources(), *(part.id for part in content.sections())]:
        assert lore.look_up(id, limit=1)[0].id == id
    assert lore.look_up("[softmax-before-ce]", limit=1)[0].id == "softmax-before-ce"


def test_nothing_is_found_for_nothing() -> None:
    assert lore.look_up("") == []
    assert lore.look_up("the of and") == []
    assert lore.look_up("zxqv wmkj") == []
    assert lore.look_up("loss", limit=0) == []


def test_any_text_can_be_asked() -> None:
    draw = random.Random(3)
    alphabet = "abcdefgh \n\t\x00[](){}*+?\\|'\"é漢\ud800𝔘0123456789.-"
    for length in (1, 7, 80, 5000):
        for _ in range(10):
            assert len(lore.look_up("".join(draw.choices(alphabet, k=length)))) <= 5


def test_entries_do_not_repeat() -> None:
    found = [entry.id for entry in lore.look_up("softmax-before-ce", limit=50)]
    assert len(found) == len(set(found)) == 50


def test_a_wrong_id_names_the_nearest() -> None:
    with pytest.raises(lore.LoreError, match=r"no claim with the id 'softmax-ce'.*softmax-before-ce"):
        lore.claim("softmax-ce")
    with pytest.raises(lore.LoreError, match="karpathy-recipe"):
        lore.source("karpathy-recip")
    with pytest.raises(lore.LoreError, match="look_up"):
        lore.claim("zzzz")


def test_a_citation_leads_to_its_words() -> None:
    cited = next(one for one in lore.claim("fails-silently").sources if one.source.id == "karpathy-recipe")
    assert cited.url == "https://karpathy.github.io/2019/04/25/recipe/#:~:text=silently%20work%20a%20bit%20worse"
    for claim in lore.claims().values():
        for one in claim.sources:
            assert " " not in one.url and one.url.count("#") <= 1


def test_an_entry_shows_strength_contest_and_source() -> None:
    shown = as_text(lore.claim("softmax-before-ce-floor"))
    assert "(measured by us)" in shown
    assert "contested: Corrects" in shown
    assert "read: full text" in as_text(lore.source("karpathy-recipe"))
    assert as_text(content.sections()[-1]).startswith("refs/")


def test_every_entry_is_short_and_plain_data() -> None:
    entries: list[lore.Entry] = [*lore.claims().values(), *lore.sources().values(), *content.sections()]
    for entry in entries:
        assert len(as_text(entry)) < 2200
        assert json.loads(json.dumps(as_dict(entry)))["id"] == entry.id


def test_sections_know_their_claims() -> None:
    parts = {part.id: part for part in content.sections()}
    assert "softmax-before-ce" in parts["PLAYBOOK.md#the-loss-is-stuck"].claims
    assert "refs/diagnostics.md#the-first-loss" in parts
    assert len(parts) == len(content.sections())


def test_code_is_not_read_as_headings() -> None:
    text = "# one\n\nbefore\n\n```python\n# a comment\n```\n\n## two\n\nafter [some-claim] [link-text](x.md)\n"
    parts = list(content._sections("page.md", text))
    assert [(part.title, part.claims) for part in parts] == [("one", ()), ("two", ("some-claim",))]
    assert "# a comment" in parts[0].text


def test_the_lore_is_read_only_when_it_is_asked() -> None:
    program = (
        "from trainsleuth import lore, ledger; import sys;"
        "assert lore.claims.cache_info().currsize == 0; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_rare_words_weigh_more_and_long_texts_less() -> None:
    ranking = Ranking(["loss loss softmax", "loss", "loss " * 50, "rate"])
    both, short, long, none = ranking.scores("loss softmax")
    assert both > short > 0
    assert none == 0
    assert ranking.scores("rate")[3] > ranking.scores("loss")[1]
    assert long < both
    assert Ranking([]).scores("loss") == []


def test_words_of_one_idea_meet() -> None:
    assert words("NaNs") == words("inf") == words("non-finite")[1:]
    assert words("the val loss plateaus")[0] == words("validation")[0]
    assert words("learning rate") != words("learning")
