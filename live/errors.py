"""Every error this package raises on purpose.

::

    LiveRateError              one readable line; exit code below
    ├── ConfigError            a key, value or flag that cannot be used
    ├── InputError             a file or PGN given on the command line that cannot be used
    ├── FeedError              a source that cannot be followed
    │   ├── UnknownFeed        the text after --feed names no kind of source
    │   ├── FeedNotFound       the source answers that there is nothing there
    │   └── FeedUnreadable     what the source sends is not what it should be
    ├── EngineError            an engine that cannot be used
    │   ├── EngineNotFound     no engine anywhere we look
    │   ├── NotAnEngine        the program does not speak UCI
    │   └── EngineFault        an engine died, hung or lied during a search (retried)
    │       ├── EngineKilled   somebody killed an engine
    │       └── EngineMoved    an engine is given up, and its search is not to blame
    ├── PortInUse              the address to listen on is taken
    ├── Interrupted            Ctrl-C or SIGTERM ended work before it was done
    └── Refused                a running service does not let us watch it, or is none of ours

Errors carry data and build their text in ``__str__``: what it is about, what is wrong,
what to do. ``exit_code`` is what ``live-rate`` ends with: 2 for what the user gave us,
1 for the rest.
"""


class LiveRateError(Exception):
    """One readable line: ``subject: problem. Remedy``."""

    exit_code = 1

    def __init__(self, subject: str, problem: str, remedy: str = "") -> None:
        super().__init__(subject, problem, remedy)
        self.subject = subject
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        line = f"{self.subject}: {self.problem}" if self.subject else self.problem
        line = f"{line}. {self.remedy}" if self.remedy else line
        # Files and feeds may say anything; a terminal must not obey it, and it stays
        # one line.
        return "".join(char if char.isprintable() else repr(char)[1:-1] for char in line)


class ConfigError(LiveRateError):
    """A key, value or flag that cannot be used; ``subject`` names file and key."""

    exit_code = 2


class InputError(LiveRateError):
    """A file or PGN given on the command line that cannot be used."""

    exit_code = 2


class FeedError(LiveRateError):
    """A source that cannot be followed; ``subject`` is the feed."""

    exit_code = 2


class UnknownFeed(FeedError):
    """The text after ``--feed`` names no kind of source."""


class FeedNotFound(FeedError):
    """The source answers that there is nothing there (404, no such file)."""


class FeedUnreadable(FeedError):
    """What the source sends is not what it should be (HTML instead of PGN)."""


class EngineError(LiveRateError):
    """An engine that cannot be used."""

    exit_code = 2


class EngineNotFound(EngineError):
    """No engine anywhere we look."""


class NotAnEngine(EngineError):
    """The program does not speak UCI."""


class EngineFault(EngineError):
    """An engine died, hung or lied during a search; the search is retried elsewhere."""

    exit_code = 1


class EngineKilled(EngineFault):
    """Somebody killed an engine, a person or a machine short of memory: its search is
    hardly to blame.
    """


class EngineMoved(EngineFault):
    """An engine is given up, and its search is not to blame: a cluster went, or came
    back.
    """


class PortInUse(LiveRateError):
    """The address to listen on is taken."""

    exit_code = 2


class Interrupted(LiveRateError):
    """Ctrl-C or SIGTERM ended work before it was done; ``subject`` is the command."""

    def __init__(
        self, subject: str, problem: str, remedy: str = "", *, exit_code: int = 130
    ) -> None:
        super().__init__(subject, problem, remedy)
        self.exit_code = exit_code


class Refused(LiveRateError):
    """A running service does not let us watch it, or is none of ours; no wait mends
    that.
    """

    exit_code = 2


def first_of(error: BaseException) -> BaseException:
    """The first error of a group, however deep the groups in it are; itself where it is
    none.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
