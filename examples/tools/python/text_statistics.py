"""Statistics of a text. `count` gets the tool's input and returns its data; what it prints goes to the log."""

import math
import re
from collections import Counter

WORD = re.compile(r"\w+(?:['’]\w+)*")
SENTENCE_END = re.compile(r"[.!?…]+(?=\s|$)")
WORDS_PER_MINUTE = 230


def count(input):
    text = input["text"]
    words = [word.lower() for word in WORD.findall(text)]
    paragraphs = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    sentences = len(SENTENCE_END.findall(text)) or (1 if words else 0)
    # Words that occur equally often come in alphabetical order, so that equal texts give equal answers.
    frequent = sorted(Counter(words).items(), key=lambda item: (-item[1], item[0]))
    return {
        "characters": len(text),
        "words": len(words),
        "sentences": sentences,
        "paragraphs": len(paragraphs),
        "readingMinutes": math.ceil(10 * len(words) / WORDS_PER_MINUTE) / 10 if words else 0,
        "frequent": [
            {"word": word, "count": times} for word, times in frequent[: input.get("top", 5)]
        ],
    }
