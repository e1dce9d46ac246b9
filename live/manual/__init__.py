"""The manual that comes with the program: Markdown pages in this folder, printed by
``live-rate manual`` and served at ``/manual/``.
"""
