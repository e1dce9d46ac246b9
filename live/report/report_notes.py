"""What the figures of a report mean and what they do not, in plain words. Pure."""

from __future__ import annotations

from live.catalogue import BY_ID
from live.events import EngineInfo, GainKind
from live.report.printed_figures import plain

SOURCES = {
    "fixed": "set by hand",
    "calibration": "a stored value",
    "field": "measured on the rated players of this event (Algorithm 3)",
}


def notes(engine: EngineInfo, gain: GainKind) -> list[tuple[str, str]]:
    """Term and explanation, in the order of reading; plain text."""
    how = (
        "the score of the move played minus that of the engine's own choice, both searched from "
        "the position before the move; never above 0"
        if gain == "same-search"
        else "the score after the move minus the score before it, from the mover's side"
    )
    return [
        (
            "Engine",
            f"Scores are those of {plain(engine.name)} ({plain(engine.limit)}), which counts as "
            f"{engine.rating} Elo, {SOURCES.get(engine.rating_source, 'as its source says')}.",
        ),
        (
            "Gain",
            f"What a move gained or lost, in pawns: {how}. Losses of 0.30 or more stand beside the "
            "moves.",
        ),
        *((BY_ID[name].name, BY_ID[name].meaning) for name in ("perceived", "percentile")),
        (
            "Read by",
            f"{', '.join(engine.models) or 'no model, so nobody is playing like anything'}. "
            f"{plain(engine.note, 300)}".strip(),
        ),
        *((BY_ID[name].name, BY_ID[name].meaning) for name in _METHODS),
        (
            "Finds, traps",
            "By a network that learned from rated games what players of a rating play, weighed by "
            "what the moves lose. Find (!): no worse than the engine's best, fewer than 1 in 4 of "
            "the mover's rating would play it, and the others lose 0.40 pawns or more on average. "
            "Trap (!?): it costs little, the reply that looks most natural loses a pawn or more, "
            "and at least 1 in 10 of the opponent's rating would err. No rating rests on it.",
        ),
        (
            "What it is not",
            "None of these figures is an official rating, FIDE's performance rating (that goes by "
            "results alone) or evidence of anything but how close the moves were to one engine's "
            "choices.",
        ),
    ]


_METHODS = (
    "algorithm4",
    "tournament",
    "conformance",
    "first_choice",
    "centipawn_loss",
    "accuracy",
)


def screening(engine: EngineInfo) -> str:
    """What stands above the screening table."""
    return (
        "Screening figures for arbiters only. They say where to look, with how much data, and "
        "accuse nobody: of many players some are far out by chance. A figure alone is never "
        f"evidence. First choices are those of {plain(engine.name)}, {plain(engine.limit)}; moves "
        "1 to 8, forced moves, repeated positions and those decided by more than three pawns are "
        "left out. By chance: at most in this share of events of this size the evidence about "
        "somebody who plays fair ever gets so far."
    )
