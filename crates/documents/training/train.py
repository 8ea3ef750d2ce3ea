"""Trains the main-content scorer; see README.md.

usage: train.py SAMPLES.jsonl MODEL_FOLDER PAGES.jsonl.gz... [--only-check]
"""

import gzip
import hashlib
import json
import pathlib
import re
import struct
import sys
from collections import Counter, defaultdict
from urllib.parse import urlparse

import lightgbm
import numpy as np
from rapidfuzz.distance import LCSseq

PARTS = 5
REACHES = (1, 2, 4, 8, 16)
TREES = {"blocks": 200, "context": 60}
# How much pages of a file count, by its name without endings: there are few news articles.
WEIGHTS = {"articles": 3.0}
# The last features of a block are those of its page.
PAGE_FEATURES = 12
CONTEXT_FEATURES = 18
LEVELS = 5
OPTIONS = {
    "objective": "cross_entropy",
    "num_leaves": 24,
    "learning_rate": 0.06,
    "min_data_in_leaf": 60,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5,
    "max_bin": 63,
    "seed": 7,
    "deterministic": True,
    "force_row_wise": True,
    "verbose": -1,
}
CONTEXT_OPTIONS = OPTIONS | {"num_leaves": 8, "min_data_in_leaf": 300, "feature_fraction": 0.6}
LEAF = 0xFFFF


def words(text):
    return re.findall(r"\w+", text.lower())


class Page:
    def __init__(self, row, sample, known):
        self.id, self.kind = row["id"], f"{row['source']} {row['page_type']}"
        self.gold = words(row["main_content"])
        self.site = ".".join(urlparse(row["url"]).netloc.split(".")[-2:])
        self.blocks = [words(text) for text in sample["texts"]]
        count = len(self.blocks)
        self.features = np.array(sample["features"], dtype=np.float32).reshape(count, known)
        self.around = np.array(sample["around"], dtype=int).reshape(count, LEVELS, 2)
        self.alike = np.array(sample["alike"], dtype=int)
        self.words = np.maximum(self.features[:, 0], 1.0).astype(float)
        self.labels = self._labels()

    def _labels(self):
        vocabulary = {}
        number = lambda text: [vocabulary.setdefault(word, len(vocabulary)) for word in text]
        flat = number([word for block in self.blocks for word in block])
        owner = [at for at, block in enumerate(self.blocks) for _ in block]
        found = np.zeros(len(self.blocks))
        for step in LCSseq.opcodes(flat, number(self.gold)):
            if step.tag == "equal":
                for place in range(step.src_start, step.src_end):
                    found[owner[place]] += 1
        return found / np.maximum([len(block) for block in self.blocks], 1)

    def weights(self):
        """The pages of a file count about the same, each block by its words."""
        own = WEIGHTS.get(self.kind.split()[0], 1.0)
        return own * 1000 * (self.words + 1) / (self.words.sum() + len(self.gold) + 50)

    def score(self, ratings):
        chosen = Counter()
        for at in choose(self.words, ratings):
            chosen.update(self.blocks[at])
        gold = Counter(self.gold)
        both = (chosen & gold).total()
        return 2 * both / max(1, chosen.total() + gold.total()), both / max(1, chosen.total()), both / max(1, gold.total())


def choose(counts, ratings):
    """The blocks that give the best F1 to expect."""
    if not len(ratings):
        return []
    order = np.argsort(-ratings, kind="stable")
    right = np.cumsum((ratings * counts)[order])
    expected = 2 * right / (np.cumsum(counts[order]) + right[-1])
    return order[: np.argmax(expected) + 1]


def context(page, ratings):
    """As `context.rs`."""
    count = len(ratings)
    if not count:
        return np.zeros((0, PAGE_FEATURES + CONTEXT_FEATURES), dtype=np.float32)
    all_words = np.r_[0, np.cumsum(page.words)]
    rated = np.r_[0, np.cumsum(page.words * ratings)]
    mean = lambda first, end: (rated[end] - rated[first]) / np.maximum(all_words[end] - all_words[first], 1)
    at = np.arange(count)
    columns = [ratings]
    columns += [mean(np.maximum(at - reach, 0), np.minimum(at + reach + 1, count)) for reach in REACHES]
    columns.append(np.full(count, mean(0, count)))
    for offset in (-2, -1, 1, 2):
        other = at + offset
        inside = (other >= 0) & (other < count)
        columns.append(np.where(inside, ratings[np.clip(other, 0, count - 1)], -1.0))
    columns += [mean(page.around[:, level, 0], page.around[:, level, 1]) for level in range(page.around.shape[1])]
    groups = page.alike.max() + 1
    weight = np.bincount(page.alike, page.words, groups)
    columns.append((np.bincount(page.alike, page.words * ratings, groups) / weight)[page.alike])
    columns.append(np.bincount(page.alike, minlength=groups)[page.alike])
    return np.hstack([page.features[:, -PAGE_FEATURES:], np.column_stack(columns).astype(np.float32)])


def train(pages, features, which):
    data = lightgbm.Dataset(
        np.vstack(features),
        np.concatenate([page.labels for page in pages]),
        weight=np.concatenate([page.weights() for page in pages]),
    )
    options = CONTEXT_OPTIONS if which == "context" else OPTIONS
    return lightgbm.train(options, data, TREES[which])


def predict(model, features):
    return model.predict(features) if len(features) else np.zeros(0)


def part(page):
    return int(hashlib.md5(page.site.encode()).hexdigest(), 16) % PARTS


def held_out(pages, features, which):
    """Ratings of each page by a model that was trained on other sites."""
    ratings = [None] * len(pages)
    for number in range(PARTS):
        seen = [at for at, page in enumerate(pages) if part(page) != number]
        model = train([pages[at] for at in seen], [features[at] for at in seen], which)
        for at, page in enumerate(pages):
            if part(page) == number:
                ratings[at] = predict(model, features[at])
    return ratings


def report(name, pages, ratings):
    """Prints F1, precision and recall for each file and type of pages."""
    kinds = defaultdict(list)
    for page, own in zip(pages, ratings):
        for kind in (page.kind, page.kind.split()[0]):
            kinds[kind].append(page.score(own))
    print(name)
    for kind, scores in sorted(kinds.items()):
        print(f"  {kind:24} {len(scores):4}  F1 %.4f  precision %.4f  recall %.4f" % tuple(np.mean(scores, axis=0)), flush=True)


def write(model, file):
    out = bytearray()
    for tree in model.dump_model()["tree_info"]:
        nodes = []

        def add(node):
            at = len(nodes)
            nodes.append(None)
            if "leaf_value" in node:
                nodes[at] = (LEAF, 0, 0, node["leaf_value"])
            else:
                left, right = add(node["left_child"]), add(node["right_child"])
                nodes[at] = (node["split_feature"], left, right, node["threshold"])
            return at

        add(tree["tree_structure"])
        out += struct.pack("<H", len(nodes))
        for node in nodes:
            out += struct.pack("<HHHf", *node)
    file.write_bytes(out)


def main():
    samples, folder, *sources = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    rows = {}
    for source in sources:
        with gzip.open(source, "rt") as lines:
            for line in lines:
                row = json.loads(line)
                row["source"] = pathlib.Path(source).name.split(".")[0]
                if (row["main_content"] or "").strip():
                    rows[row["id"]] = row
    with open(samples) as lines:
        known = len(json.loads(next(lines)))
        read = (json.loads(line) for line in lines)
        pages = [Page(rows[sample["id"]], sample, known) for sample in read if sample["id"] in rows]
    report("all blocks that are right", pages, [page.labels for page in pages])
    features = [page.features for page in pages]
    first = held_out(pages, features, "blocks")
    report("held_out sites, blocks", pages, first)
    with_context = [context(page, ratings) for page, ratings in zip(pages, first)]
    report("held_out sites, context", pages, held_out(pages, with_context, "context"))
    if "--only-check" in sys.argv:
        return
    folder = pathlib.Path(folder)
    blocks = train(pages, features, "blocks")
    write(blocks, folder / "blocks.bin")
    # The second model learns from first ratings of held_out pages: those of seen ones are too good.
    second = train(pages, with_context, "context")
    write(second, folder / "context.bin")
    seen = [context(page, predict(blocks, page.features)) for page in pages]
    report("training pages", pages, [predict(second, own) for own in seen])


main()
