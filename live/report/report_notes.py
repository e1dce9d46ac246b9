"""What the figures of a report mean and what they do not, in plain words. Pure."""

from __future__ import annotations

from live.events import EngineInfo, GainKind
from live.report.printed_figures import plain

SOURCES = {
    "fixed": "set by hand",
    "calibration": "taken from the calibration",
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
        (
            "Level",
            "The Elo played at: the own Elo, or without one the field's, and these moves together. "
            f"Calibration: {_calibration(engine)}",
        ),
        (
            "Percentile",
            "Better than so many in a hundred games by players rated like this one, in positions "
            "as hard. It describes the game; it needs an Elo and five counted moves.",
        ),
        (
            "Moves alone",
            "The Elo at which these moves are likeliest, whoever plays: no own Elo, no field, no "
            "result. Wide, because one game says little. Where only one end is known, as in "
            "“2450 or more”, no number is made up for the other.",
        ),
        (
            "Performance",
            "The Elo at which moves and results together are likeliest against these opponents; "
            "the own Elo is not used. Where pairing is by rating, the opponents give it away.",
        ),
        (
            "A4, A2",
            "Algorithm 4 of Ferreira (2012) compares these moves with the engine's: an index on "
            "its own scale. Algorithm 2 compares all players of the event with each other. Both "
            "rank players; their distances are not Elo distances.",
        ),
        (
            "95 %",
            "The interval that holds the true value in 95 of 100 cases. One game says little: its "
            "interval is hundreds of Elo wide. Players whose intervals overlap are ties.",
        ),
        (
            "p, loss, accuracy",
            "p: share of moves at most 0.30 pawns short of the engine's choice (Alliot 2017). "
            "Loss: average loss of a move in centipawns. Accuracy: lichess's published formula. "
            "Where ~ stands before one of these two, some moves are not scored yet.",
        ),
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


def _calibration(engine: EngineInfo) -> str:
    note = plain(engine.calibration_note, 300)
    if engine.calibration:
        return f"{plain(engine.calibration)}{': ' if note else ''}{note}."
    return f"none, so there is no level. {note}".strip()


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
