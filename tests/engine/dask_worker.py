"""A worker as its own process: ``dask_worker.py SCHEDULER ENGINES TLS_FILES PROGRAM …``."""

import asyncio
import json
import sys

from live.engine.cluster import ClusterTls, work
from live.engine.engine_discovery import EngineCommand
from live.engine.uci import UciSettings

if __name__ == "__main__":
    command = EngineCommand(tuple(sys.argv[4:]), "for the test", "configured")
    tls = ClusterTls(*json.loads(sys.argv[3]))
    asyncio.run(
        work(sys.argv[1], command, UciSettings(), engines=int(sys.argv[2]), nice=0, tls=tls)
    )
