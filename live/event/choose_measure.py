"""Chooses the models and search options for rating the games of an event.

The choice depends on the settings and the engine.
"""

from live.engine.engine_settings import build_limit, build_search_options
from live.engine.move_forecast import ForecastPolicy, reduce_limit
from live.errors import ConfigError
from live.event.event import Event
from live.event.rate_game import HumanSearches, Measure
from live.messages.figures import EngineInfo, GainKind
from live.ratings.agreement import ChoiceModel, load_choice_model
from live.ratings.engine_scale import UNMEASURED_SCALE, MeasuredEngine, load_reference
from live.ratings.expected_result import ResultModel, load_result_model
from live.ratings.ferreira import ENGINE_GAINS, SPIKE_AT_ZERO, EngineDistribution
from live.ratings.intrinsic_rating import TABLES, IntrinsicTable
from live.ratings.model_choice import (
    MODELS,
    Models,
    load_shipped_models,
    select_converted_models,
    select_fitting_models,
)
from live.settings import Config, EngineConfig, RatingConfig

#: Engine rating before the ratings of the event's players are known, Elo. The measured
#: rating starts here and moves away with more moves. It comes from Algorithm 3 over an
#: open tournament with a mean of 2055 Elo.
STORED_ENGINE_RATING = 2160


def select_models(
    name: str,
    engine: str,
    limit: str,
    gain: GainKind,
    measured: MeasuredEngine | None = None,
) -> Models:
    """Return the models to use, with a note about them or the reason why no model fits.

    ``auto`` selects every shipped model that fits; each game is rated by the model for
    its pace. A model that is named in the settings rates every game. If no model fits
    and the engine is ``measured``, the models learned with the reference engine are
    used, with a scale that converts the engine's scores.
    """
    if name == "none":
        return Models(note="switched off")
    is_named = name != "auto"
    available = (MODELS.load(name),) if is_named else load_shipped_models()
    own = select_fitting_models(available, engine, limit, gain, by_name=is_named)
    if own.models:
        return own
    if measured is not None and measured.explain_refusal:
        return Models(note=f"{own.note}; {measured.explain_refusal}")
    reference = load_reference()
    how = ""
    scale = UNMEASURED_SCALE
    if measured is not None:
        agreement = measured.agreement
        scale = agreement.scale
        how = (
            f"as measured on {agreement.positions} reference positions"
            f" (correlation {agreement.correlation:.3f})"
        )
    return select_converted_models(
        available,
        reference.engine,
        reference.limit,
        gain,
        scale,
        by_name=is_named,
        measured=how,
        note=own.note,
    )


def build_measure(
    config: Config,
    engine: str,
    limit: str,
    measured: MeasuredEngine | None,
    *,
    human: bool,
    engine_scores: bool,
) -> Measure:
    """Return the models and search options with which games are rated.

    Args:
        config: the settings.
        engine: name of the engine that gives the scores.
        limit: limit of the engine's searches, as text for people.
        measured: measurement of the engine on the reference positions, if known.
        human: whether the neural network of human moves is used.
        engine_scores: False if scores come from another source, without depths.
    """
    rating = config.rating
    gain: GainKind = rating.gain if engine_scores else "successive"
    models = Models(note="scores from elsewhere, without depths")
    if engine_scores:
        models = select_models(rating.model, engine, limit, gain, measured)
    table, table_note = select_intrinsic_table(
        rating.intrinsic, config.engine, engine, limit
    )
    results, forecast = load_figure_models(engine, limit)
    # The limit is that of searches ahead of the players' moves, so that both share
    # results.
    scouts = reduce_limit(build_limit(config.engine))
    searches = HumanSearches(ForecastPolicy().replies, scouts)
    return Measure(
        gain,
        models,
        build_search_options(config.engine),
        table,
        table_note,
        results,
        forecast,
        searches if human and engine_scores else None,
        select_engine_gains(rating.engine_distribution, engine, limit, gain),
    )


def open_event(
    config: Config,
    engine: str,
    limit: str,
    measured: MeasuredEngine | None = None,
    *,
    human: bool = False,
    engine_scores: bool = True,
) -> Event:
    """Return an empty event that is rated with this engine.

    Args:
        config: the settings.
        engine: the engine's name.
        limit: limit of the engine's searches, as text for people.
        measured: measurement of the engine on the reference positions, if known.
        human: whether predictions of human moves are available, stored or on request.
        engine_scores: False uses the source's ``[%eval]`` comments instead of searches.
    """
    measure = build_measure(
        config, engine, limit, measured, human=human, engine_scores=engine_scores
    )
    info = build_engine_info(config.rating, engine, limit, measure.models)
    return Event(measure, engine=info, engine_scores=engine_scores)


def build_engine_info(
    rating: RatingConfig, engine: str, limit: str, models: Models
) -> EngineInfo:
    """Return the data of the engine, with its rating before the players' results are
    known.
    """
    if isinstance(rating.engine_rating, int):
        return EngineInfo(engine, limit, rating.engine_rating, "fixed")
    stored = STORED_ENGINE_RATING
    if models.models:
        stored = models.models[0].engine_rating
    return EngineInfo(engine, limit, stored, "calibration")


def select_engine_gains(
    name: str, engine: str, limit: str, gain: GainKind
) -> EngineDistribution:
    """Return the engine's own gains, with which players' gains are compared.

    The setting ``[rating] engine_distribution`` selects them.

    Raises:
        ConfigError: there is no count for this engine, limit and gain.
        InputError: the file does not exist.
    """
    if name == "spike":
        return SPIKE_AT_ZERO
    key = "[rating] engine_distribution"
    if gain == "same-search":
        raise ConfigError(
            key,
            "is for successive gains: same-search gains of an engine are 0 by"
            " construction",
            'Set gain = "successive", or leave it at "spike"',
        )
    for distribution_name in (
        ENGINE_GAINS.list_names() if name == "measured" else (name,)
    ):
        gains = ENGINE_GAINS.load(distribution_name)
        if gains.is_for(engine, limit):
            return gains.distribution
    raise ConfigError(
        key,
        f"{name!r} holds no count for {engine}, {limit}",
        "Count it: live-rate study table CORPUS engine-gains --form json --out FILE",
    )


def advise_on_models(models: Models) -> str:
    """Return advice for people on how to get better figures; empty if there is none."""
    if models.models and not models.converted:
        return ""
    reference = load_reference()
    better = (
        "best with the engine they were learned with: --engine embedded,"
        f" {reference.limit}"
    )
    if models.measured:
        return better
    return f"it is measured once, in one to four minutes while it is idle; {better}"


def describe_models(models: Models) -> str:
    """Return one line for people about the models that rate the engine's scores.

    The line ends with advice on how to get better figures, if there is any.
    """
    names = ", ".join(model.name for model in models.models) or "none"
    parts = [f"model {names}", models.note, advise_on_models(models)]
    return "; ".join(filter(None, parts))


def explain_no_screening(engine: str, limit: str) -> str:
    """Return the reason why agreement with this engine is not screened, and the remedy.

    The text is for people; it is empty if agreement is screened.
    """
    forecast = load_choice_model("classical")
    if (forecast.engine, forecast.limit) == (engine, limit):
        return ""
    return (
        "off: how often players choose the engine's move is not known for "
        f"{engine}, {limit}. It is known for {forecast.engine}, {forecast.limit}: "
        f"--engine embedded --nodes {forecast.limit.partition(' ')[0]}"
    )


def load_figure_models(
    engine: str, limit: str
) -> tuple[tuple[ResultModel, ...], ChoiceModel | None]:
    """Return the models of game results, and the model of the engine's first choices.

    The second model is None if none was learned with this engine.
    """
    results = tuple(load_result_model(pace) for pace in ("classical", "blitz"))
    is_known = not explain_no_screening(engine, limit)
    return results, load_choice_model("classical") if is_known else None


def select_intrinsic_table(
    name: str, config: EngineConfig, engine: str, limit: str
) -> tuple[IntrinsicTable | None, str]:
    """Return the table of intrinsic ratings for Multi-PV searches, and an empty string.

    If no table fits, return None and the reason.
    """
    if config.multipv == 1:
        return None, "Multi-PV is off ([engine] multipv)"
    if name == "none":
        return None, "switched off"
    if name != "auto":
        table = TABLES.load(name)
        mismatch = table.explain_mismatch(engine, limit)
        return (None, mismatch) if mismatch else (table, "")
    for table in map(TABLES.load, TABLES.list_names()):
        if table.explain_mismatch(engine, limit) is None:
            return table, ""
    reason = (
        f"no table for {engine}, {limit}: live-rate calibrate --intrinsic makes one"
    )
    return None, reason
