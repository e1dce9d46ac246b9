"""What everything is measured with, as the settings have it: limits, ways of asking, models.
Part of the composition root.
"""

from __future__ import annotations

from live.config import EngineConfig
from live.engine.look_ahead import ForecastPolicy, scout_limit
from live.engine.search import Limit, SearchOptions
from live.engine.uci import UciSettings
from live.errors import ConfigError
from live.events import GainKind
from live.ledger.measure import HumanSearches
from live.ratings.agreement import ChoiceModel, load_choice_model
from live.ratings.engine_scale import (
    UNMEASURED_SCALE,
    MeasuredEngine,
    ScoreAgreement,
    load_reference,
)
from live.ratings.expected_result import ResultModel, load_result_model
from live.ratings.ferreira import (
    ENGINE_GAINS,
    SPIKE_AT_ZERO,
    EngineDistribution,
)
from live.ratings.intrinsic_rating import TABLES, IntrinsicTable
from live.ratings.perceived_model import (
    MODELS,
    Models,
    fitting_models,
    shipped_models,
    transferred_models,
)


def engine_limit(config: EngineConfig) -> Limit:
    """The limit every search gets; the settings hold exactly one above 0."""
    if config.depth:
        return Limit(depth=config.depth)
    if config.movetime_ms:
        return Limit(movetime_ms=config.movetime_ms)
    return Limit(nodes=config.nodes)


def uci_settings(config: EngineConfig) -> UciSettings:
    """How each engine is set up."""
    return UciSettings(
        threads=config.threads,
        hash_mb=config.hash_mb,
        reproducible=config.reproducible,
        adaptive=config.adaptive,
    )


def search_options_of(config: EngineConfig) -> SearchOptions:
    """How searches are asked for."""
    return SearchOptions(
        lines=config.multipv,
        same_depth=config.same_depth or config.adaptive,
    )


def human_searches(config: EngineConfig) -> HumanSearches:
    """What is searched to know what the moves that players choose lose: the scouts of looking
    ahead, so that neither searches for itself.
    """
    return HumanSearches(ForecastPolicy().replies, scout_limit(engine_limit(config)))


def limit_text(config: EngineConfig) -> str:
    """The limit and all else that changes what a search finds: calibrations hold for it."""
    parts = [str(engine_limit(config))]
    if config.multipv > 1:
        parts.append(f"{config.multipv} lines")
    if config.adaptive:
        parts.append("adaptive")
    elif config.same_depth:
        parts.append("same depth")
    if config.syzygy_path:
        parts.append("syzygy")
    return ", ".join(parts)


def fitting(
    name: str, engine: str, limit: str, gain: GainKind, measured: MeasuredEngine | None = None
) -> Models:
    """The models to use, with what to say of them, or the reason why none fits.

    ``auto`` takes every shipped one that fits: each game is read by that of its pace. A named one
    reads every game. Where none fits, those learned with the engine of the reference positions are
    read through a scale: that of the engine in use once it is ``measured``.
    """
    if name == "none":
        return Models(note="switched off")
    named = name != "auto"
    held = (MODELS.load(name),) if named else shipped_models()
    own = fitting_models(held, engine, limit, gain, by_name=named)
    if own.models:
        return own
    if measured is not None and measured.refusal:
        return Models(note=f"{own.note}; {measured.refusal}")
    reference = load_reference()
    return transferred_models(
        held,
        reference.engine,
        reference.limit,
        gain,
        UNMEASURED_SCALE if measured is None else measured.agreement.scale,
        by_name=named,
        measured="" if measured is None else _how(measured.agreement),
        note=own.note,
    )


def _how(held: ScoreAgreement) -> str:
    return f"correlation {held.correlation:.3f} over {held.positions} reference positions"


def engine_distribution(name: str, engine: str, limit: str, gain: GainKind) -> EngineDistribution:
    """What players' gains are compared with, as ``[rating] engine_distribution`` has it.

    Raises:
        ConfigError: nothing was counted for this engine, limit and gain.
        InputError: no such file.
    """
    if name == "spike":
        return SPIKE_AT_ZERO
    key = "[rating] engine_distribution"
    if gain == "same-search":
        raise ConfigError(
            key,
            "is for successive gains: same-search gains of an engine are 0 by construction",
            'Set gain = "successive", or leave it at "spike"',
        )
    for each in ENGINE_GAINS.names() if name == "measured" else (name,):
        held = ENGINE_GAINS.load(each)
        if held.fits(engine, limit):
            return held.distribution
    raise ConfigError(
        key,
        f"{name!r} holds no count for {engine}, {limit}",
        "Count it: live-rate study table CORPUS engine-gains --form json --out FILE",
    )


def advice(models: Models) -> str:
    """What would make better figures, for people; empty where nothing would."""
    if models.models and not models.transferred:
        return ""
    reference = load_reference()
    better = f"best with the engine they were learned with: --engine embedded, {reference.limit}"
    if models.measured:
        return better
    return f"measured once, in about a minute of idle time, while an event runs; {better}"


def figure_models(engine: str, limit: str) -> tuple[tuple[ResultModel, ...], ChoiceModel | None]:
    """Models of how games end, and of the engine's first choices; none of these for another
    engine.
    """
    results = tuple(load_result_model(pace) for pace in ("classical", "blitz"))
    forecast = load_choice_model("classical")
    fits = (forecast.engine, forecast.limit) == (engine, limit)
    return results, forecast if fits else None


def fitting_table(
    name: str, config: EngineConfig, engine: str, limit: str
) -> tuple[IntrinsicTable | None, str]:
    """The table for choices among several lines, and why there is none."""
    if config.multipv == 1:
        return None, "Multi-PV is off ([engine] multipv)"
    if name == "none":
        return None, "switched off"
    if name != "auto":
        table = TABLES.load(name)
        mismatch = table.mismatch(engine, limit)
        return (None, mismatch) if mismatch else (table, "")
    for table in map(TABLES.load, TABLES.names()):
        if table.mismatch(engine, limit) is None:
            return table, ""
    return None, f"no table for {engine}, {limit}: live-rate calibrate --intrinsic makes one"
