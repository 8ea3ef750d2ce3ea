"""Runs durable workflows of 3 layers × 4 no-op tasks with LangGraph and prints its figures as one line of JSON.

usage: langgraph_rival.py (sqlite FILE | postgres URL) SECONDS CALLERS

`durability="sync"` stores every step before the next one begins, which is what a durable workflow is. Callers are threads,
as the library's own checkpointers for synchronous graphs expect; with SQLite they share the checkpointer's connection.
"""

import json
import operator
import sqlite3
import sys
import threading
import time
import uuid
from contextlib import contextmanager
from importlib.metadata import version
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph

LAYERS, WIDTH = 3, 4


class State(TypedDict):
    done: Annotated[list, operator.add]


def noop(name):
    return lambda state: {"done": [name]}


def graph():
    builder = StateGraph(State)
    layers = [[f"t{layer}-{place}" for place in range(WIDTH)] for layer in range(LAYERS)]
    for layer in layers:
        for name in layer:
            builder.add_node(name, noop(name))
    for name in layers[0]:
        builder.add_edge(START, name)
    for before, after in zip(layers, layers[1:]):
        for name in after:
            builder.add_edge(before, name)
    builder.add_edge(layers[-1], END)
    return builder


@contextmanager
def saver(engine, place, callers):
    if engine == "sqlite":
        from langgraph.checkpoint.sqlite import SqliteSaver

        connection = sqlite3.connect(place, check_same_thread=False)
        checkpointer = SqliteSaver(connection)
        checkpointer.setup()
        mode = connection.execute("PRAGMA synchronous").fetchone()[0]
        assert mode == 2, f"synchronous is {mode}: commits would not survive a power loss"
        yield checkpointer
        connection.close()
    else:
        from langgraph.checkpoint.postgres import PostgresSaver
        from psycopg.rows import dict_row
        from psycopg_pool import ConnectionPool

        settings = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
        with ConnectionPool(place, min_size=callers, max_size=callers, kwargs=settings) as pool:
            with pool.connection() as connection:
                mode = connection.execute("SHOW synchronous_commit").fetchone()["synchronous_commit"]
                assert mode == "on", mode
            checkpointer = PostgresSaver(pool)
            checkpointer.setup()
            yield checkpointer


def run(compiled):
    config = {"configurable": {"thread_id": str(uuid.uuid4())}}
    result = compiled.invoke({"done": []}, config, durability="sync")
    assert len(result["done"]) == LAYERS * WIDTH, result


def main():
    engine, place, seconds, callers = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
    with saver(engine, place, callers) as checkpointer:
        compiled = graph().compile(checkpointer=checkpointer)
        run(compiled)
        counts = [0] * callers
        failures = []
        end = time.monotonic() + seconds

        def call(place):
            try:
                while time.monotonic() < end:
                    run(compiled)
                    counts[place] += 1
            except Exception as error:
                failures.append(error)

        begun = time.monotonic()
        threads = [threading.Thread(target=call, args=(place,)) for place in range(callers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        elapsed = time.monotonic() - begun
        if failures:
            raise failures[0]
    print(json.dumps({"version": version("langgraph"), "workflows": sum(counts), "seconds": elapsed}))


main()
