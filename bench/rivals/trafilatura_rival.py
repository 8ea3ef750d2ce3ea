"""Extracts the main content of pages with trafilatura and prints its figures as one line of JSON.

usage: trafilatura_rival.py PAGES.jsonl[.gz]

Only the extraction is timed, in CPU time of the process. The settings are the library's own.
"""

import gzip
import json
import re
import sys
import time
from collections import Counter, defaultdict
from importlib.metadata import version

import trafilatura


def words(text):
    return Counter(re.findall(r"\w+", text.lower()))


def score(found, expected):
    found, expected = words(found), words(expected)
    both = sum((found & expected).values())
    return 2 * both / max(1, sum(found.values()) + sum(expected.values()))


def main():
    path = sys.argv[1]
    opened = gzip.open if path.endswith(".gz") else open
    kinds, spent, count = defaultdict(list), 0.0, 0
    with opened(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            page = json.loads(line)
            if not (page["main_content"] or "").strip():
                continue
            start = time.process_time()
            text = trafilatura.extract(page["html"], url=page["url"]) or ""
            spent += time.process_time() - start
            count += 1
            kinds[page["page_type"]].append(score(text, page["main_content"]))
    scores = [score for kind in kinds.values() for score in kind]
    print(
        json.dumps(
            {
                "version": version("trafilatura"),
                "f1": round(sum(scores) / len(scores), 4),
                "by_type": {kind: round(sum(own) / len(own), 4) for kind, own in kinds.items()},
                "pages_per_cpu_s": round(count / spent, 1),
            }
        )
    )


main()
