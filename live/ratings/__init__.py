"""One method per file: pure, incremental, no I/O, no clock, no asyncio."""
