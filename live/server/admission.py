"""The result of admitting a websocket client at its handshake. Pure."""

from live.messages.values import Value
from live.server.authentication import Guest
from live.server.http_values import HttpRequest
from live.server.stream_filter import FilterError, StreamFilter


class AdmittedClient(Value):
    """An admitted websocket client. Admission is decided before the 101 response."""

    selected: StreamFilter
    """The filter from its query."""
    resume: tuple[str, int] | None
    """Epoch and number of the last message that the client has; None if it needs a
    snapshot.
    """
    guest: Guest | None = None
    """The identity of the client; None until its first message contains a token."""
    is_local: bool = False
    """True if the client is on this machine."""
    sender: str = ""
    """The address to which the client's filters are counted."""


def read_resume_point(request: HttpRequest) -> tuple[str, int] | None:
    """Return ``epoch`` and ``since`` of a query; None unless both are present.

    Raises:
        FilterError: ``since`` is not a number.
    """
    query = dict(request.query)
    epoch = query.get("epoch")
    since = query.get("since")
    if since is not None and not (
        since.isascii() and since.isdigit() and len(since) <= 18
    ):
        raise FilterError("since is not a message number")
    return None if epoch is None or since is None else (epoch, int(since))
