"""Runs durable workflows of 3 layers × 4 no-op tasks with DBOS on PostgreSQL and prints its figures as one line of JSON.

usage: dbos_rival.py URL SECONDS CALLERS

The steps of a layer run concurrently. Callers are coroutines of one event loop, the fastest way that the library has.
"""

import asyncio
import json
import sys
import time
from importlib.metadata import version

from dbos import DBOS

LAYERS, WIDTH = 3, 4


@DBOS.step()
async def noop(layer, place):
    return f"t{layer}-{place}"


@DBOS.workflow()
async def workflow():
    done = []
    for layer in range(LAYERS):
        done += await asyncio.gather(*(noop(layer, place) for place in range(WIDTH)))
    return done


async def measure(seconds, callers):
    assert len(await workflow()) == LAYERS * WIDTH
    end = time.monotonic() + seconds

    async def call():
        count = 0
        while time.monotonic() < end:
            assert len(await workflow()) == LAYERS * WIDTH
            count += 1
        return count

    begun = time.monotonic()
    counts = await asyncio.gather(*(call() for _ in range(callers)))
    return sum(counts), time.monotonic() - begun


def main():
    url, seconds, callers = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    DBOS(config={"name": "rival", "system_database_url": url, "log_level": "ERROR", "run_admin_server": False})
    DBOS.launch()
    count, elapsed = asyncio.run(measure(seconds, callers))
    DBOS.destroy()
    print(json.dumps({"version": version("dbos"), "workflows": count, "seconds": elapsed}))


main()
