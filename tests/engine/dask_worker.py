"""A worker as its own process: ``dask_worker.py SCHEDULER ENGINES PROGRAM …``."""

import asyncio
import sys

from live.engine.discovery import EngineCommand
from live.engine.uci import Settings
from live.engine.worker import work

if __name__ == "__main__":
    command = EngineCommand(tuple(sys.argv[3:]), "for the test", "configured")
    asyncio.run(work(sys.argv[1], command, Settings(), engines=int(sys.argv[2]), nice=0))
