"""Opening of the source that a ``--feed`` text names."""

from dataclasses import replace
from importlib import import_module

from live.settings import FeedsConfig
from live.sources.feed import Feed
from live.sources.feed_session import FeedConditions
from live.sources.source_address import KINDS, recognise_source


def open_feed(
    spec: str,
    config: FeedsConfig,
    *,
    conditions: FeedConditions | None = None,
    name: str = "",
    lasting: bool = False,
) -> Feed:
    """Return the source for the text ``--feed spec``, ready to run. No request is sent
    yet.

    Args:
        spec: ``demo``, ``-``, a path, a URL, or ``kind+`` before any of these.
        config: The section ``[feeds]``.
        conditions: Clock and random numbers for tests; None for the real ones.
        name: Name of the source, needed if two sources would have the same name.
        lasting: Whether to wait for a source that does not exist yet, and to keep
            polling when all its games have ended: results are corrected, and the next
            round might follow.

    Raises:
        UnknownFeed: the text names no kind of source; the error lists the kinds.
        FeedNotFound: there is no file at the path.
        FeedUnreadable: the path cannot be followed, such as that of a pipe.
        ConfigError: ``[feeds.lichess] token_file`` cannot be used.
    """
    source = recognise_source(spec, lichess_url=config.lichess.base_url)
    conditions = conditions or FeedConditions(config)
    kind = KINDS[source.kind]
    if lasting:
        conditions = replace(conditions, lasting=not kind.once)
    # Modules are imported only when needed: the demo needs no HTTP client.
    module, _, opener = kind.opener.partition(":")
    feed: Feed = getattr(import_module(f"live.sources.{module}"), opener)(
        source, conditions
    )
    feed.name = name or feed.name
    return feed
