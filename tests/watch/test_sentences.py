"""live.watch.sentences: what is said, in six languages, and nothing beyond the
figures.
"""

import re
from typing import get_args

import msgspec
import pytest

from live.messages.from_sources import Player
from live.messages.moments import MomentKind, MomentText
from live.watch.localised_moves import localise, write_move
from live.watch.moment_draft import MomentDraft
from live.watch.sentences import write_sentences
from live.watch.words import LANGUAGES, WORDS
from tests.watch.games import START, game, ply

FIGURES: dict[str, dict[str, float]] = {
    "find": {"share": 2.6, "elo": 2000},
    "trap": {"chance": 61, "elo": 2000},
    "turn": {"before": 55, "after": 8},
    "missed": {"before": 55, "after": 8, "reply": 50},
    "scramble": {"clock": 8.4},
    "comeback": {"lowest": 3},
    "upset-coming": {"score": 80, "gap": 310},
    "upset": {"gap": 310},
    "above": {"perceived": 2240, "percentile": 97, "elo": 1800, "moves": 24},
    "best-played": {"first": 91, "second": 88},
    "despite": {"perceived": 2240, "rival_perceived": 2410},
    "wildest": {"points": 2.43},
    "highest": {"perceived": 2640, "percentile": 94, "elo": 2250, "moves": 31},
    "lowest": {"perceived": 1640, "percentile": 4, "elo": 2250, "moves": 31},
}


def word_moment(kind: MomentKind, **more: float) -> MomentText:
    draft = MomentDraft(kind, 2, "black", 0.5, {**FIGURES[kind], **more})
    return write_sentences(draft, game([0.5] * 4))


@pytest.mark.parametrize("kind", get_args(MomentKind))
def test_every_kind_is_said_in_every_language_with_all_its_figures(
    kind: MomentKind,
) -> None:
    texts = msgspec.structs.asdict(word_moment(kind))
    assert tuple(texts) == LANGUAGES
    said_in = [words.moments[kind] for words in WORDS.values()]
    holes = {frozenset(re.findall(r"\{(\w+)\}", text)) for text in said_in}
    assert len(holes) == 1, "languages say different things"
    # The score after the reply is what makes it a missed chance; the reply itself is
    # named. Points of an expected score say nothing to anybody.
    unsaid = {"reply", "points"} | (
        {"moves"} if kind in ("highest", "lowest") else set()
    )
    assert FIGURES[kind].keys() - unsaid <= next(iter(holes))
    assert not any("{" in text for text in texts.values())
    assert len(set(texts.values())) == len(texts)


def test_sentences_name_players_moves_and_figures() -> None:
    found = "Berg plays 1…\u00a0Nf6: about 3\u00a0% of players rated 2000 would."
    assert word_moment("find").en == found
    assert word_moment("find").de.startswith("Berg spielt 1…\u00a0Sf6")
    assert word_moment("find", share=0.2).en.count("<1\u00a0%") == 1
    assert "better than 99\u00a0%" in word_moment("above", percentile=99.7).en
    assert "Adams better than in 99\u00a0%" in word_moment("best-played", first=99.6).en
    assert "dal 55\u00a0% all’8\u00a0%" in word_moment("turn").it
    assert "circa l’11\u00a0%" in word_moment("find", share=11).it
    assert word_moment("scramble").en.startswith("Berg has 8.4 s left at 1…\u00a0Nf6")
    assert not any(
        "2" in text for text in msgspec.structs.astuple(word_moment("wildest"))
    )
    assert word_moment("upset").en == "Berg, rated 310 Elo lower, beats Adams."
    assert word_moment("upset", costliest=3).en.endswith(
        " beats Adams. The costliest move was 2.\u00a0Ng1."
    )


def test_a_round_is_told_with_its_result() -> None:
    draft = MomentDraft("wildest", 2, None, 0.7, FIGURES["wildest"])
    drawn = write_sentences(draft, game([0.5] * 4, result="1/2-1/2"))
    assert (
        drawn.en
        == "No game of the round had more ups and downs than Adams – Berg (½–½)."
    )
    assert "better than 1 % of games" in word_moment("lowest", percentile=0.2).en


def test_languages_say_the_same_things_with_the_same_holes() -> None:
    english = WORDS["en"]
    assert english.moments.keys() == {*get_args(MomentKind), "comeback-drawn"}
    for words in WORDS.values():
        assert list(words.moments) == list(english.moments)
        assert list(words.added) == list(english.added)
        assert len(words.letters.split()) == 5
        for text, own in zip(english.added.values(), words.added.values(), strict=True):
            assert re.findall(r"\{\w+\}", own) == re.findall(r"\{\w+\}", text)
        whole = msgspec.structs.asdict(english.round)
        for name, text in msgspec.structs.asdict(words.round).items():
            assert text.count("{}") == whole[name].count("{}"), name


def test_who_came_back_has_won_or_drawn() -> None:
    draft = MomentDraft("comeback", 4, "black", 0.8, {"lowest": 3})
    won = write_sentences(draft, game([0.5] * 4, result="0-1"))
    drawn = write_sentences(draft, game([0.5] * 4, result="1/2-1/2"))
    assert won.en == "Berg wins after an expected score of only 3\u00a0%."
    assert drawn.en == "Berg draws after an expected score of only 3\u00a0%."
    for language in LANGUAGES:
        assert getattr(won, language) != getattr(drawn, language)


def test_a_turn_says_that_the_reply_is_not_known_yet() -> None:
    assert word_moment("turn", open=1).en.endswith(" The reply can still change that.")
    for language in LANGUAGES:
        assert getattr(word_moment("turn", open=1), language) != getattr(
            word_moment("turn"), language
        )


def test_what_was_best_is_said_where_it_is_known() -> None:
    draft = MomentDraft("turn", 3, "white", 0.5, FIGURES["turn"])
    known = game(plies=[ply(1), ply(2), ply(3, best="e2e4")])
    assert write_sentences(draft, known).en.endswith(" Best was e4.")
    knight = game(plies=[ply(1), ply(2), ply(3, best="b1c3")])
    assert write_sentences(draft, knight).ru.endswith(" Лучше было Кc3.")
    played = game(plies=[ply(1), ply(2), ply(3, best="f3g1")])
    assert "Best" not in write_sentences(draft, played).en
    strange = game(plies=[ply(1), ply(2), ply(3, best="a1a8")])
    assert "Best" not in write_sentences(draft, strange).en


def test_what_was_missed_is_the_best_move_of_who_missed_it() -> None:
    draft = MomentDraft("missed", 2, "white", 0.6, FIGURES["missed"])
    both = game(plies=[ply(1, best="e2e4"), ply(2, best="d7d5")])
    text = write_sentences(draft, both).en
    assert text.endswith("and Berg let the chance go with 1…\u00a0Nf6. Best was d5.")
    # The reply was the best: then nothing else is said of it.
    found = game(plies=[ply(1, best="e2e4"), ply(2, best="g8f6")])
    assert "Best" not in write_sentences(draft, found).en


def test_two_of_one_family_are_told_apart() -> None:
    ivanovs = game(
        [0.5] * 4,
        white=Player("Ivanov, Sergey", elo=2400),
        black=Player("侯逸凡 (Hou, Yifan)", elo=2000),
    )
    upset = MomentDraft("upset", 2, "black", 0.5, FIGURES["upset"])
    assert write_sentences(upset, ivanovs).en.endswith(
        "侯逸凡, rated 310 Elo lower, beats Ivanov."
    )
    text = write_sentences(upset, ivanovs, ["Ivanov, Stanislav"]).en
    assert text == "侯逸凡, rated 310 Elo lower, beats Ivanov, Se."
    above = MomentDraft("above", 2, "white", 0.5, FIGURES["above"])
    assert write_sentences(above, ivanovs, ["Ivanov, Stanislav"]).en.startswith(
        "Ivanov, Se., rated 1800, played like 2240 over 24 moves"
    )


def test_names_from_right_to_left_do_not_move_what_follows() -> None:
    arabic = game([0.5] * 4, black=Player("محمد السيد", elo=2000))
    text = write_sentences(
        MomentDraft("find", 2, "black", 0.5, FIGURES["find"]), arabic
    ).en
    assert text.startswith("\u2068السيد\u2069 plays 1…")


def test_a_slip_in_a_game_that_was_drawn_is_not_told_as_a_loss() -> None:
    slip = MomentDraft("turn", 4, "black", 0.8, {"before": 49, "after": 0.3})
    texts = {
        result: msgspec.structs.asdict(
            write_sentences(slip, game([0.5] * 4, result=result))
        )
        for result in ("1/2-1/2", "1-0", "*")
    }
    assert texts["1/2-1/2"]["en"].endswith(
        " with 2…\u00a0Ng8. The game was drawn all the same."
    )
    for language, text in texts["1/2-1/2"].items():
        assert (
            text.startswith(texts["1-0"][language]) and text != texts["1-0"][language]
        )
    assert texts["1-0"] == texts["*"]
    # Down to what a draw is worth, a draw is what came of it.
    level = MomentDraft("turn", 4, "black", 0.8, {"before": 95, "after": 50})
    assert "drawn" not in write_sentences(level, game([0.5] * 4, result="1/2-1/2")).en


def test_hostile_names_and_moves_stay_what_they_are() -> None:
    hostile = game([0.5] * 4, black=Player("{who} {0} <b>, Bo", elo=2000))
    text = write_sentences(
        MomentDraft("upset", 2, "black", 0.5, FIGURES["upset"]), hostile
    )
    assert "{who} {0} <b>" in text.en
    assert localise("<script>", "de") == "<script>"
    assert localise("Qxd8=N+", "de") == "Dxd8=S+"


def test_moves_count_from_where_the_game_began() -> None:
    begun = START.replace(" w ", " b ").replace(" 0 1", " 0 17")
    played = game([0.5] * 3, start_fen=begun)
    texts = [write_move(played, n, "en") for n in (1, 2, 3)]
    assert texts == ["17…\u00a0Nf3", "18.\u00a0Nf6", "18…\u00a0Ng1"]
    assert write_move(played, 9, "en") == "?"


def test_who_played_better_than_nearly_all_is_accused_of_nothing() -> None:
    """The caveat is in the sentence, so that it goes by pages and brokers, too."""
    told = word_moment("above")
    assert told.en.endswith("Every player has such games.")
    assert all(getattr(told, each).count(".") >= 2 for each in LANGUAGES)
