"""Every error this package raises on purpose.

::

    LiveRateError              one readable line; exit code below
    ├── ConfigError            a key, value or flag that cannot be used
    ├── InputError             a file or PGN of the command line that cannot be used
    ├── FeedError              a source that cannot be followed
    │   ├── UnknownFeed        the text after --feed is not the address of a source
    │   ├── FeedNotFound       the source answers that nothing is at this address
    │   └── FeedUnreadable     the source sends data of the wrong kind
    ├── EngineError            an engine that cannot be used
    │   ├── EngineNotFound     no engine was found
    │   ├── NotAnEngine        the program does not speak UCI
    │   └── EngineFault        an engine died or hung during a search (retried)
    │       ├── EngineKilled   an engine was killed from outside
    │       └── EngineMoved    an engine was given up, not because of its search
    ├── PortInUse              the address to listen on is in use
    ├── Interrupted            Ctrl-C or SIGTERM ended work before it was done
    └── Refused                a running service does not accept this client

Errors carry data and build their text in ``__str__``: the subject, the problem, the
remedy. ``exit_code`` is the exit code of ``live-rate``: 2 if the user's input is wrong,
1 otherwise.
"""


class LiveRateError(Exception):
    """An error with a text of one readable line: ``subject: problem. Remedy``."""

    exit_code = 1

    def __init__(self, subject: str, problem: str, remedy: str = "") -> None:
        super().__init__(subject, problem, remedy)
        self.subject = subject
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        line = f"{self.subject}: {self.problem}" if self.subject else self.problem
        line = f"{line}. {self.remedy}" if self.remedy else line
        # Text from files and feeds can contain anything: remove control characters,
        # which the terminal would obey, and line breaks.
        return "".join(
            char if char.isprintable() else repr(char)[1:-1] for char in line
        )


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
    """The text after ``--feed`` is not the address of any kind of source."""


class FeedNotFound(FeedError):
    """The source answers that nothing is at this address (404, no such file)."""


class FeedUnreadable(FeedError):
    """The source sends data of the wrong kind (HTML instead of PGN)."""


class EngineError(LiveRateError):
    """An engine that cannot be used."""

    exit_code = 2


class EngineNotFound(EngineError):
    """No engine was found in any of the usual places."""


class NotAnEngine(EngineError):
    """The program does not speak UCI."""


class EngineFault(EngineError):
    """An engine died, hung or returned an invalid result during a search.

    Another engine repeats the search.
    """

    exit_code = 1


class EngineKilled(EngineFault):
    """An engine was killed, by a person or because the machine had too little memory.

    The position that it searched is probably not the cause.
    """


class EngineMoved(EngineFault):
    """An engine was given up because a cluster was lost or came back.

    The position that it searched is not the cause.
    """


class PortInUse(LiveRateError):
    """The address to listen on is in use."""

    exit_code = 2


class Interrupted(LiveRateError):
    """Ctrl-C or SIGTERM ended work before it was done; ``subject`` is the command."""

    def __init__(
        self, subject: str, problem: str, remedy: str = "", *, exit_code: int = 130
    ) -> None:
        super().__init__(subject, problem, remedy)
        self.exit_code = exit_code


class Refused(LiveRateError):
    """A running service does not accept this client, or the address is not that of a
    live-rate service; trying again would not help.
    """

    exit_code = 2


def find_first_error(error: BaseException) -> BaseException:
    """Return the first error of a group, even of nested groups; the error itself if it
    is not a group.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
