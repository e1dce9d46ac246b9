"""Whether a websocket handshake is admitted, and as what. Pure."""

from live.messages.values import Value
from live.server.authentication import Guest
from live.server.http_values import HttpRequest
from live.server.stream_filter import FilterError, StreamFilter


class AdmittedClient(Value):
    """A websocket client that was admitted: decided once, before the 101 response."""

    wanted: StreamFilter
    """What its query asks for."""
    resume: tuple[str, int] | None
    """Epoch and number of the last message it holds; None when it needs a snapshot."""
    guest: Guest | None = None
    """Who it is; None until its first message gives a token."""
    is_local: bool = False
    """Whether it is on this machine."""
    sender: str = ""
    """The address that its filters are counted for."""


def read_resume_point(request: HttpRequest) -> tuple[str, int] | None:
    """Return ``epoch`` and ``since`` of a query; None unless both are given: a number
    alone means nothing.

    Raises:
        FilterError: ``since`` is no number.
    """
    query = dict(request.query)
    epoch = query.get("epoch")
    since = query.get("since")
    if since is not None and not (
        since.isascii() and since.isdigit() and len(since) <= 18
    ):
        raise FilterError("since is not a message number")
    return None if epoch is None or since is None else (epoch, int(since))
