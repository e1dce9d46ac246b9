"""Reports of an event as PGN, CSV, JSON, and HTML to print. Pure.

Every file is made from a :class:`live.server.analysis.Analysis`, which comes from a
running service, from ``analyze`` or from a journal; see
:func:`live.screens.reports.report_files.build_files`.
"""
