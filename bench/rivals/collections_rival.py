# The same searches without the gateway: FTS5 by sqlite3, and a float32 product by numpy.
# usage: collections_rival.py FOLDER ROUNDS
# FOLDER has chunks.txt (a chunk on each line), queries.txt, vectors.f32 and query_vectors.f32; dimensions are given last.
import json, sqlite3, statistics, sys, time

folder, rounds, dimensions = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
queries = open(folder + "/queries.txt", encoding="utf-8").read().splitlines()
database = sqlite3.connect(folder + "/rival.db")
database.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='unicode61')")
with open(folder + "/chunks.txt", encoding="utf-8") as lines:
    database.executemany("INSERT INTO t (text) VALUES (?)", ((line.rstrip("\n"),) for line in lines))
database.commit()


def milliseconds(work, inputs):
    times = []
    for number in range(rounds + 1):
        for one in inputs:
            begun = time.perf_counter()
            work(one)
            if number > 0:
                times.append((time.perf_counter() - begun) * 1000)
    return statistics.median(times)


def words(query):
    match = " OR ".join('"' + word + '"' for word in query.split())
    select = "SELECT rowid, text FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT 10"
    return database.execute(select, (match,)).fetchall()


answer = {"words_ms": milliseconds(words, queries)}
try:
    import numpy

    matrix = numpy.fromfile(folder + "/vectors.f32", dtype="<f4").reshape(-1, dimensions)
    vectors = numpy.fromfile(folder + "/query_vectors.f32", dtype="<f4").reshape(-1, dimensions)

    def product(vector):
        scores = matrix @ vector
        best = numpy.argpartition(-scores, 10)[:10]
        return best[numpy.argsort(-scores[best])]

    answer["vectors_ms"] = milliseconds(product, list(vectors))
    answer["numpy"] = numpy.__version__
except ImportError:
    pass
print(json.dumps(answer))
