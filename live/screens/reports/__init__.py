"""An event on paper and in spreadsheets: PGN, CSV, JSON and a page to print. Pure.

Every file is made from a :class:`live.server.analysis.Analysis`, whether it came from a
running service, from ``analyze`` or from a journal; see
:func:`live.screens.reports.report_files.build_files`.
"""
