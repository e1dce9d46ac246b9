"""The engines of a running service, and the searches ahead of the games.

What everything is measured with is here, too, as the settings have it: limits, ways of
asking, models.

The engine in use is measured on the reference positions, when it has nothing else to
do, and what was found is kept in the user's state folder: a file for each engine and
limit, so that a second start knows at once. The searches are asked for as guesses are
(:data:`SearchKind.SPECULATE`): a live position takes the engine at once, and the
interrupted one is searched later. Loss policy: a file that cannot be read or written
costs another measurement, said in the log.
"""

import asyncio
import hashlib
import itertools
import logging
import os
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from live.config import Config, EngineConfig
from live.engine.engine_pool import EnginePool
from live.engine.engine_process import EngineTimeouts
from live.engine.engine_programs import find_engine
from live.engine.look_ahead import LookAhead, list_boards_over
from live.engine.move_forecast import ForecastPolicy, ForecastRules, reduce_limit
from live.engine.search import (
    Limit,
    Position,
    ResultCache,
    Search,
    SearchFailure,
    SearchOptions,
    SearchResult,
)
from live.engine.search_queue import ResultListener, SearchDesk, SearchKind, SearchPriority
from live.engine.uci import UciSettings
from live.errors import ConfigError
from live.event.rate_game import HumanSearches, Measure
from live.messages.figures import GainKind
from live.messages.health import EngineHealth
from live.messages.to_clients import Change
from live.ratings.agreement import ChoiceModel, load_choice_model
from live.ratings.choice_model import compute_probabilities
from live.ratings.engine_scale import (
    LEAST_POSITIONS,
    UNMEASURED_SCALE,
    MeasuredEngine,
    ReferenceSet,
    load_reference,
    measure_agreement,
)
from live.ratings.expected_result import ResultModel, load_result_model
from live.ratings.ferreira import ENGINE_GAINS, SPIKE_AT_ZERO, EngineDistribution
from live.ratings.intrinsic_rating import RYBKA_3, TABLES, IntrinsicTable
from live.ratings.model_choice import (
    MODELS,
    Models,
    load_shipped_models,
    select_fitting_models,
    select_transferred_models,
)

log = logging.getLogger(__name__)

#: Searches asked for at a time: more than there are engines, few enough to leave the
#: queue short.
_AT_A_TIME = 32


async def measured_on(
    reference: ReferenceSet,
    engines: SearchDesk,
    *,
    lines: int,
    progressed: Callable[[int, int], None],
) -> MeasuredEngine | str:
    """Search all positions, each for a future: what was found, or why nothing was, for
    people. ``lines``: best moves wanted of each, as in the event; ``progressed`` is
    given positions done and their number.
    """
    positions, slots, done = reference.positions, asyncio.Semaphore(_AT_A_TIME), itertools.count(1)

    async def search(index: int) -> SearchResult | None:
        async with slots:
            wanted = Search(Position(positions[index].fen), lines=lines)
            # Before all guesses: those have a rank above 0, and this is over in a
            # minute.
            priority = SearchPriority(SearchKind.SPECULATE, "reference", index)
            answer: asyncio.Future[SearchResult | SearchFailure] = asyncio.Future()
            engines.submit(wanted, answer, priority)
            try:
                result = await answer
            finally:
                engines.drop(answer)
            progressed(next(done), len(positions))
            return result if isinstance(result, SearchResult) else None

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(search(index)) for index in range(len(positions))]
    pairs = zip(positions, (task.result() for task in tasks), strict=True)
    found = [(position.score_cp, result) for position, result in pairs if result is not None]
    if len(found) < LEAST_POSITIONS:
        return (
            f"it could not be measured: it gave no score for {len(positions) - len(found)} of "
            f"{len(positions)} reference positions"
        )
    return MeasuredEngine(
        agreement=measure_agreement(
            [cp for cp, _ in found], [result.score.cp for _, result in found]
        ),
        nodes=round(statistics.median(result.nodes for _, result in found)),
    )


def _kept_in(engine: str, limit: str) -> Path:
    """The file of an engine (with its options) under a limit, and for these reference
    positions: others would give another scale.
    """
    import platformdirs  # only here: most commands need none

    about = msgspec.json.encode((engine, limit, load_reference()))
    name = hashlib.blake2b(about, digest_size=12).hexdigest()
    return platformdirs.user_state_path("live-rate") / "measured-engines" / f"{name}.json"


def measured_before(engine: str, limit: str) -> MeasuredEngine | None:
    """What is known of the engine (with its options) under this limit."""
    path = _kept_in(engine, limit)
    try:
        return msgspec.json.decode(path.read_bytes(), type=MeasuredEngine)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        log.warning("%s cannot be read (%s): the engine is measured again", path, error)
        return None


def keep_measured(engine: str, limit: str, measured: MeasuredEngine) -> None:
    """Keep it for the next start."""
    path = _kept_in(engine, limit)
    # Not in place: whoever reads meanwhile finds the whole file or none.
    new = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(msgspec.json.encode(measured))
        new.replace(path)
    except OSError as error:
        log.warning("%s cannot be written (%s): the engine is measured again", path, error)


#: Of a player whose rating nobody knows: mean of the open that calibrations were
#: learned from.
_UNRATED_ELO = 2055


class EngineService:
    """The room, and at :attr:`desk` the place where searches are asked for."""

    def __init__(
        self,
        config: Config,
        listener: ResultListener,
        cache: ResultCache | None,
        mover_elo: Callable[[str, int], int | None] | None = None,
        people: Callable[[str, Position], Mapping[str, float]] | None = None,
    ) -> None:
        """``mover_elo``: Elo of the player who makes a ply of a game, if it is known;
        without it nobody will move, so nothing is searched ahead. ``people``: how many
        players of the mover's rating would play each move, by UCI; empty while that is
        not known.
        """
        settings = config.engine
        limit = engine_limit(settings)
        self._mover_elo = mover_elo
        self._speculation: LookAhead | None = None
        if mover_elo is not None and settings.speculate:
            listener = self._speculation = LookAhead(
                listener,
                ForecastRules(
                    limit,
                    self._chances,
                    search_options_of(settings),
                    # Where it is known what people play, it pays to go for gains first.
                    ForecastPolicy(gain=2.0) if people else ForecastPolicy(),
                    people,
                ),
            )
        cluster = None
        if settings.cluster:
            from live.engine.cluster import DaskCluster  # brings Dask

            cluster = DaskCluster(settings)
        self.room = EnginePool(
            find_engine(settings.path),
            limit,
            settings=uci_settings(settings),
            engines=settings.engines,
            nice=settings.nice,
            listener=listener,
            cache=cache,
            cluster=cluster,
            patience=patience_of(settings),
        )
        self.desk: SearchDesk = self.room
        if self._speculation is not None:
            self._speculation.desk = self.room
            self.desk = self._speculation

    def published(self, changes: Iterable[Change]) -> None:
        """Look ahead no more where nobody will move."""
        if self._speculation is not None:
            for board in list_boards_over(changes):
                self._speculation.end_board(board)

    def on_human_answer(self, game: str) -> None:
        """It has become known what people would play in the newest position of
        a game.
        """
        if self._speculation is not None:
            self._speculation.on_human_answer(game)

    def health(self) -> EngineHealth:
        """How they are doing."""
        health = self.room.report_health()
        if self._speculation is None:
            return health
        return msgspec.structs.replace(health, speculation=self._speculation.count_hits())

    def _chances(self, game: str, ply: int, behind_cp: Sequence[int]) -> list[float]:
        """What players of the mover's Elo choose (Regan and Haworth 2011, sections 3
        and 7).
        """
        elo = (self._mover_elo and self._mover_elo(game, ply)) or _UNRATED_ELO
        skill = RYBKA_3.interpolate_skill(round(elo, -2))
        pawns = [behind / 100 for behind in behind_cp]
        return [float(chance) for chance in compute_probabilities(pawns, skill)]


# --- what is measured with ------------------------------------------------------------


def engine_limit(config: EngineConfig) -> Limit:
    """The limit every search gets; the settings hold exactly one above 0."""
    return Limit(
        nodes=config.nodes or None,
        depth=config.depth or None,
        movetime_ms=config.movetime_ms or None,
    )


def uci_settings(config: EngineConfig) -> UciSettings:
    """How each engine is set up."""
    return msgspec.convert(config, UciSettings, from_attributes=True)


def patience_of(config: EngineConfig) -> EngineTimeouts:
    """How long engines may take."""
    return EngineTimeouts(handshake_s=config.start_s)


def search_options_of(config: EngineConfig) -> SearchOptions:
    """How searches are asked for."""
    return SearchOptions(config.multipv, same_depth=config.same_depth or config.adaptive)


def limit_text(config: EngineConfig) -> str:
    """The limit and all else that changes what a search finds: calibrations hold for
    it.
    """
    lines = f"{config.multipv} lines" if config.multipv > 1 else ""
    mode = "adaptive" if config.adaptive else "same depth" if config.same_depth else ""
    return ", ".join(filter(None, (str(engine_limit(config)), lines, mode)))


def fitting(
    name: str, engine: str, limit: str, gain: GainKind, measured: MeasuredEngine | None = None
) -> Models:
    """The models to use, with what to say of them, or the reason why none fits.

    ``auto`` takes every shipped one that fits: each game is read by that of its pace. A
    named one reads every game. Where none fits, those learned with the engine of the
    reference positions are read through a scale: that of the engine in use once it is
    ``measured``.
    """
    if name == "none":
        return Models(note="switched off")
    named = name != "auto"
    held = (MODELS.load(name),) if named else load_shipped_models()
    own = select_fitting_models(held, engine, limit, gain, by_name=named)
    if own.models:
        return own
    if measured is not None and measured.explain_refusal:
        return Models(note=f"{own.note}; {measured.explain_refusal}")
    reference, how, scale = load_reference(), "", UNMEASURED_SCALE
    if measured is not None:
        agreed, scale = measured.agreement, measured.agreement.scale
        how = f"correlation {agreed.correlation:.3f} over {agreed.positions} reference positions"
    return select_transferred_models(
        held,
        reference.engine,
        reference.limit,
        gain,
        scale,
        by_name=named,
        measured=how,
        note=own.note,
    )


def measure_of(
    config: Config,
    engine: str,
    limit: str,
    measured: MeasuredEngine | None,
    *,
    human: bool,
    engine_scores: bool,
) -> Measure:
    """What scores are measured with: those of this engine, or such as come from
    elsewhere. ``human``: players' moves are asked for.
    """
    rating = config.rating
    gain: GainKind = rating.gain if engine_scores else "successive"
    models = Models(note="scores from elsewhere, without depths")
    if engine_scores:
        models = fitting(rating.model, engine, limit, gain, measured)
    table, table_note = fitting_table(rating.intrinsic, config.engine, engine, limit)
    results, forecast = figure_models(engine, limit)
    # The scouts of looking ahead, so that neither searches for itself.
    scouts = reduce_limit(engine_limit(config.engine))
    searches = HumanSearches(ForecastPolicy().replies, scouts)
    return Measure(
        gain,
        models,
        search_options_of(config.engine),
        table,
        table_note,
        results,
        forecast,
        searches if human and engine_scores else None,
        engine_distribution(rating.engine_distribution, engine, limit, gain),
    )


def engine_distribution(name: str, engine: str, limit: str, gain: GainKind) -> EngineDistribution:
    """What players' gains are compared with, as ``[rating] engine_distribution`` has
    it.

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
    for each in ENGINE_GAINS.list_names() if name == "measured" else (name,):
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


def why_not_screened(engine: str, limit: str) -> str:
    """Return why agreement with this engine is not screened, and the remedy, for
    people; empty where it is.
    """
    forecast = load_choice_model("classical")
    if (forecast.engine, forecast.limit) == (engine, limit):
        return ""
    return (
        "off: nothing forecasts how often players choose the moves of "
        f"{engine}, {limit}. It is known of {forecast.engine}, {forecast.limit}: "
        f"--engine embedded --nodes {forecast.limit.partition(' ')[0]}"
    )


def figure_models(engine: str, limit: str) -> tuple[tuple[ResultModel, ...], ChoiceModel | None]:
    """Models of how games end, and of the engine's first choices; none of these for
    another engine.
    """
    results = tuple(load_result_model(pace) for pace in ("classical", "blitz"))
    is_known = not why_not_screened(engine, limit)
    return results, load_choice_model("classical") if is_known else None


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
        mismatch = table.explain_mismatch(engine, limit)
        return (None, mismatch) if mismatch else (table, "")
    for table in map(TABLES.load, TABLES.list_names()):
        if table.explain_mismatch(engine, limit) is None:
            return table, ""
    return None, f"no table for {engine}, {limit}: live-rate calibrate --intrinsic makes one"
