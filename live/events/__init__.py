"""The frozen values that cross folders: what a feed reports, what subscribers get.

Nothing here behaves. Units are in the names: ``_cp`` centipawns, ``_s`` seconds, ``_ms``
milliseconds. Scores are from White's side unless a name says otherwise; gains are from the mover's
side. A ply counts half-moves from 1; ply 0 is the starting position.

:mod:`live.events.reports` is what comes in, :mod:`live.events.messages` what goes out; the others
are what messages are made of. All can be imported from here.
"""

from live.events.alerts import Agreement as Agreement
from live.events.alerts import Alert as Alert
from live.events.alerts import AlertKind as AlertKind
from live.events.alerts import BellChoice as BellChoice
from live.events.alerts import Incident as Incident
from live.events.alerts import IncidentChange as IncidentChange
from live.events.alerts import IncidentWord as IncidentWord
from live.events.alerts import Severity as Severity
from live.events.games import ChoiceEvidence as ChoiceEvidence
from live.events.games import CurvePoint as CurvePoint
from live.events.games import Curves as Curves
from live.events.games import EngineInfo as EngineInfo
from live.events.games import FigureChoice as FigureChoice
from live.events.games import GainCounts as GainCounts
from live.events.games import GainKind as GainKind
from live.events.games import GameDetail as GameDetail
from live.events.games import GameView as GameView
from live.events.games import HeadToHead as HeadToHead
from live.events.games import PlayerGains as PlayerGains
from live.events.games import PlayerView as PlayerView
from live.events.games import PlyView as PlyView
from live.events.health import ARBITERS_NOTIFICATIONS as ARBITERS_NOTIFICATIONS
from live.events.health import DIRECTOR as DIRECTOR
from live.events.health import NOTIFICATIONS as NOTIFICATIONS
from live.events.health import PRODUCERS_PARTS as PRODUCERS_PARTS
from live.events.health import EngineHealth as EngineHealth
from live.events.health import EngineState as EngineState
from live.events.health import FeedHealth as FeedHealth
from live.events.health import FeedState as FeedState
from live.events.health import HumanHealth as HumanHealth
from live.events.health import MeasuringProgress as MeasuringProgress
from live.events.health import PublicDelay as PublicDelay
from live.events.health import QueueLengths as QueueLengths
from live.events.health import SpeculationFigures as SpeculationFigures
from live.events.human import DifficultyView as DifficultyView
from live.events.human import Mark as Mark
from live.events.human import RatingShare as RatingShare
from live.events.messages import AlertMessage as AlertMessage
from live.events.messages import Change as Change
from live.events.messages import ClockMessage as ClockMessage
from live.events.messages import EngineMessage as EngineMessage
from live.events.messages import GainsMessage as GainsMessage
from live.events.messages import GameMessage as GameMessage
from live.events.messages import GoneMessage as GoneMessage
from live.events.messages import HealthMessage as HealthMessage
from live.events.messages import HeartbeatMessage as HeartbeatMessage
from live.events.messages import HelloMessage as HelloMessage
from live.events.messages import Message as Message
from live.events.messages import MomentMessage as MomentMessage
from live.events.messages import MoveMessage as MoveMessage
from live.events.messages import PointMessage as PointMessage
from live.events.messages import ScoreMessage as ScoreMessage
from live.events.messages import SnapshotMessage as SnapshotMessage
from live.events.messages import StandingMessage as StandingMessage
from live.events.methods import ComplexityView as ComplexityView
from live.events.methods import GameMethods as GameMethods
from live.events.methods import Intrinsic as Intrinsic
from live.events.methods import MoveMethods as MoveMethods
from live.events.methods import PlayerMethods as PlayerMethods
from live.events.methods import PluginFigure as PluginFigure
from live.events.methods import Share as Share
from live.events.methods import SideMethods as SideMethods
from live.events.reports import IN_DOUBT as IN_DOUBT
from live.events.reports import MATE_CP as MATE_CP
from live.events.reports import NO_LONGER as NO_LONGER
from live.events.reports import RESULT_POINTS as RESULT_POINTS
from live.events.reports import STANDS as STANDS
from live.events.reports import Color as Color
from live.events.reports import FeedName as FeedName
from live.events.reports import FeedReport as FeedReport
from live.events.reports import GameId as GameId
from live.events.reports import GameReport as GameReport
from live.events.reports import Headers as Headers
from live.events.reports import Move as Move
from live.events.reports import Player as Player
from live.events.reports import Result as Result
from live.events.reports import Score as Score
from live.events.story import Moment as Moment
from live.events.story import MomentFigure as MomentFigure
from live.events.story import MomentKind as MomentKind
from live.events.story import MomentText as MomentText
