"""A worker as its own process: ``dask_worker.py SCHEDULER ENGINES TLS_FILES PROGRAM …``."""

import asyncio
import json
import sys

from live.engine.discovery import EngineCommand
from live.engine.encryption import Tls
from live.engine.uci import Settings
from live.engine.worker import work

if __name__ == "__main__":
    command = EngineCommand(tuple(sys.argv[4:]), "for the test", "configured")
    tls = Tls(*json.loads(sys.argv[3]))
    asyncio.run(work(sys.argv[1], command, Settings(), engines=int(sys.argv[2]), nice=0, tls=tls))
