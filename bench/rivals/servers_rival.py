"""Compares the capability servers with the libraries that their users know, in CPU time and peak memory of one run.

usage: servers_rival.py --binaries DIR --data DIR [--only ROW,…] [--ocr-models DIR]

DIR of --data holds the labelled sets. Each row runs the peer and our server on the same inputs, one after the other, in
processes of their own. CPU time is without the start: the peer's imports, and the start of our server with its first
answer. Our server's time has that of the readers and programs that it starts. Prints one line of JSON for each row.

The peers come from PyPI and Debian: pypdfium2, camelot-py, presidio-analyzer, spacy, yake, rapidocr, onnxruntime,
weasyprint, markdown, pillow, fastmcp; tesseract-ocr, ffmpeg.
"""

import argparse
import base64
import glob
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time

TYPES = {
    "pdf": "application/pdf",
    "png": "image/png",
    "jpg": "image/jpeg",
    "tif": "image/tiff",
}


def lines(path):
    with open(path, encoding="utf-8") as opened:
        return [json.loads(line) for line in opened if line.strip()]


def encoded(path):
    with open(path, "rb") as opened:
        return base64.b64encode(opened.read()).decode()


def file_arguments(path, name="file"):
    return {f"{name}_data": encoded(path), f"{name}_type": TYPES[path.rsplit(".", 1)[1].lower()]}


# ---------------------------------------------------------------- peers, each in a process of its own


def peer_pdfium(paths):
    import pypdfium2

    def run():
        for path in paths:
            document = pypdfium2.PdfDocument(path)
            for page in document:
                page.get_textpage().get_text_range()

    return run


def peer_camelot(paths):
    import logging
    import warnings

    import camelot

    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)

    def run():
        for path in paths:
            try:
                camelot.read_pdf(path, pages="all", flavor="hybrid", suppress_stdout=True)
            except Exception as fault:  # A document that it cannot read costs what it costs.
                print(f"{path}: {fault}", file=sys.stderr)

    return run


def peer_presidio(texts):
    import logging

    logging.disable(logging.CRITICAL)
    import spacy
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    class Blank(SpacyNlpEngine):
        def __init__(self):
            super().__init__(models=[{"lang_code": "en", "model_name": "blank"}])
            self.nlp = {"en": spacy.blank("en")}

        def load(self):
            pass

        def is_loaded(self):
            return True

    engine = Blank()
    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(nlp_engine=engine, languages=["en"])
    registry.remove_recognizer("SpacyRecognizer")
    analyzer = AnalyzerEngine(registry=registry, nlp_engine=engine)

    def run():
        for text in texts:
            analyzer.analyze(text, "en", score_threshold=0.3)

    return run


def peer_yake(rows):
    import yake

    extractors = {lang: yake.KeywordExtractor(lan=lang, n=3, top=10) for lang in {row["lang"] for row in rows}}

    def run():
        for row in rows:
            extractors[row["lang"]].extract_keywords(row["text"])

    return run


def peer_terms(arguments):
    """The dictionary of the set's own baseline: longest match at word borders."""
    with open(arguments["terms"], encoding="utf-8") as opened:
        terms = sorted({line.strip().lower() for line in opened if line.strip()}, key=len, reverse=True)
    pattern = re.compile(r"(?<![\w+#])(?:" + "|".join(map(re.escape, terms)) + r")(?![\w+#])")

    def run():
        for text in arguments["texts"]:
            list(pattern.finditer(text.lower()))

    return run


def peer_tesseract(paths):
    def run():
        for path in paths:
            subprocess.run(["tesseract", path, "-", "-l", "eng", "--psm", "1"], capture_output=True, check=False)

    return run


def peer_rapidocr(paths):
    import logging

    logging.disable(logging.CRITICAL)
    import numpy
    from PIL import Image
    from rapidocr import RapidOCR

    engine = RapidOCR()

    def run():
        for path in paths:
            engine(numpy.array(Image.open(path).convert("RGB")))

    return run


def peer_weasyprint(text):
    import logging

    logging.disable(logging.CRITICAL)
    import markdown
    from weasyprint import HTML

    def run():
        html = markdown.markdown(text, extensions=["tables", "fenced_code"])
        document = HTML(string=html).render()
        document.write_pdf()
        return len(document.pages)

    return run


def peer_ffmpeg(path):
    def run():
        subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-map", "0:s:0", "-f", "srt", "-"], capture_output=True, check=True)

    return run


def peer_pillow(path):
    from PIL import Image

    def run():
        Image.open(path).load()

    return run


PEERS = {name[5:]: value for name, value in globals().items() if name.startswith("peer_")}


def cpu_of_process():
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum((own.ru_utime, own.ru_stime, children.ru_utime, children.ru_stime))


def run_peer(name):
    """What the peer's own process does: prepare, then work and print what it cost."""
    run = PEERS[name](json.load(sys.stdin))
    start = cpu_of_process()
    result = run()
    cpu = cpu_of_process() - start
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(json.dumps({"cpu_s": cpu, "peak_mb": peak / 1024, "result": result}))


def peer(name, given):
    done = subprocess.run(
        [sys.executable, __file__, "--peer", name], input=json.dumps(given), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout.strip().splitlines()[-1])


# ---------------------------------------------------------------- our servers


class Server:
    def __init__(self, program, *flags):
        self.child = subprocess.Popen([program, "--log", "error", *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.next = 0
        client = {"name": "servers_rival", "version": "1"}
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.request("tools/list", {})

    def send(self, message):
        self.child.stdin.write(json.dumps(message) + "\n")
        self.child.stdin.flush()

    def request(self, method, params):
        self.next += 1
        self.send({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})
        while True:
            message = json.loads(self.child.stdout.readline())
            if message.get("id") == self.next:
                return message["result"]

    def call(self, tool, arguments):
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(f"{tool}: {result['content'][0]['text'][:300]}")
        return result["structuredContent"]

    def resident_mb(self):
        with open(f"/proc/{self.child.pid}/status", encoding="utf-8") as status:
            found = re.search(r"VmRSS:\s+(\d+)", status.read())
        return int(found.group(1)) / 1024

    def end(self):
        """Ends the server: its CPU time and peak memory, those of its own processes included."""
        self.child.stdin.close()
        _, _, usage = os.wait4(self.child.pid, 0)
        self.child.returncode = 0
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def ours(program, calls, *flags):
    start, _ = Server(program, *flags).end()
    server = Server(program, *flags)
    results = [server.call(*call) for call in calls]
    cpu, peak = server.end()
    return {"cpu_s": max(cpu - start, 0.001), "peak_mb": peak, "results": results}


# ---------------------------------------------------------------- rows


def row(name, target, our, their, ratio, **facts):
    figures = {"row": name, "ratio": round(ratio, 3), "target": target}
    for who, cost in (("ours", our), ("peer", their)):
        figures[who] = {"cpu_s": round(cost["cpu_s"], 3), "peak_mb": round(cost["peak_mb"], 1)}
    print(json.dumps(figures | facts), flush=True)


def costs(our, their):
    return our["cpu_s"] / their["cpu_s"]


def resumes(setup):
    paths = sorted(glob.glob(f"{setup.data}/resumes/resumes/*.pdf"))
    our = ours(setup.program("resume-profile-mcp"), [("parse_document", file_arguments(path)) for path in paths])
    their = peer("pdfium", paths)
    row("resumes: CPU per PDF", "<= 5 x pypdfium2", our, their, costs(our, their), documents=len(paths))


def skills(setup):
    texts = [one["text"] for one in lines(f"{setup.data}/skills/sentences.jsonl")]
    our = ours(setup.program("job-search-mcp"), [("parse_job_description", {"text": text}) for text in texts])
    their = peer("terms", {"terms": f"{setup.data}/skills/terms.txt", "texts": texts})
    row("skills: texts per CPU-s", ">= 5 x baselines.py", our, their, 1 / costs(our, their), texts=len(texts))


def keywords(setup):
    rows = [one for name in ("inspec", "semeval2017", "wikinews", "ptbn") for one in lines(f"{setup.data}/keywords/{name}.jsonl")]
    our = ours(setup.program("text-analysis-mcp"), [("extract_keywords", {"text": one["text"]}) for one in rows])
    their = peer("yake", rows)
    row("keywords: documents per CPU-s", ">= 10 x YAKE", our, their, 1 / costs(our, their), documents=len(rows))


def pdf_text(setup):
    paths = sorted(glob.glob(f"{setup.data}/pdf-text/pdf/*.pdf"))
    our = ours(setup.program("doc-parser-mcp"), [("extract_text", file_arguments(path)) for path in paths])
    their = peer("pdfium", paths)
    row("pdf-text: CPU", "<= 3 x pdfium", our, their, costs(our, their), documents=len(paths))


def large_pdfs(setup):
    paths = sorted(glob.glob(f"{setup.data}/tables/pdf/*.pdf"))
    our = ours(setup.program("doc-parser-mcp"), [("extract_text", file_arguments(path)) for path in paths])
    their = peer("pdfium", paths)
    row("pdf-text, PDFs of `tables`: CPU", "<= 3 x pdfium", our, their, costs(our, their), documents=len(paths))


def tables(setup):
    paths = sorted(glob.glob(f"{setup.data}/tables/pdf/*.pdf"))
    our = ours(setup.program("doc-parser-mcp"), [("extract_tables", file_arguments(path)) for path in paths])
    their = peer("camelot", paths)
    memory = our["peak_mb"] / their["peak_mb"]
    row("tables: CPU", "<= 0.25 x Camelot hybrid", our, their, costs(our, their), memory=round(memory, 3), memory_target="<= 0.5")


def pii(setup):
    texts = [one["text"] for name in ("texts", "structured") for one in lines(f"{setup.data}/pii/{name}.jsonl")]
    our = ours(setup.program("audit-compliance-mcp"), [("find_pii", {"text": text}) for text in texts])
    their = peer("presidio", texts)
    row("pii: texts per CPU-s", ">= 20 x presidio-analyzer", our, their, 1 / costs(our, their), texts=len(texts))


def pictures(setup):
    found = lines(f"{setup.data}/ocr/gold-made.jsonl") + lines(f"{setup.data}/ocr/gold-scans.jsonl")
    return [f"{setup.data}/ocr/{one['image']}" for one in found]


def ocr(setup):
    calls = [("extract", {**file_arguments(path, "image"), "languages": ["eng"]}) for path in pictures(setup)]
    our = ours(setup.program("image-ocr-mcp"), calls)
    their = peer("tesseract", pictures(setup))
    row("ocr: CPU", "<= 1.3 x tesseract --psm 1", our, their, costs(our, their))


def ocr_models(setup):
    if not setup.ocr_models:
        print("ocr-models: skipped, no --ocr-models", file=sys.stderr)
        return
    calls = [("extract", file_arguments(path, "image")) for path in pictures(setup)]
    our = ours(setup.program("image-ocr-mcp"), calls, "--ocr-models", setup.ocr_models)
    their = peer("rapidocr", pictures(setup))
    row("ocr with models: CPU", "<= 1.0 x RapidOCR", our, their, costs(our, their))


def report():
    """About twenty pages of Markdown with headings, paragraphs, lists, tables and code."""
    words = "The audit of the pumping stations found that most valves close later than planned and no one had noticed".split()
    parts = ["# Report on pumping stations"]
    for section in range(1, 41):
        parts.append(f"## Section {section}")
        for paragraph in range(4):
            turn = (section + paragraph) % len(words)
            sentence = " ".join(words[turn:] + words[:turn])
            parts.append(" ".join(f"{sentence} in case {section}.{paragraph}.{count}." for count in range(4)))
        parts.append("\n".join(f"- item {section}.{item} of the list" for item in range(4)))
        table = [f"| {section}.{line} | valve {line} | {line * section} |" for line in range(5)]
        parts.append("\n".join(["| no | name | count |", "|---|---|---|", *table]))
    return "\n\n".join(parts)


def pdf_output(setup):
    text = report()
    program = setup.program("media-transform-mcp")
    our = ours(program, [("convert_to_pdf", {"text": text, "from": "markdown"})] * 3)
    pages = our["results"][0]["page_count"]
    their = peer("weasyprint", text)
    speed = (3 * pages / our["cpu_s"]) / (their["result"] / their["cpu_s"])
    facts = {"pages": pages, "pages_of_peer": their["result"], "text_identical": round_trip(setup, text)}
    row("PDF output: pages per CPU-s", ">= 3 x WeasyPrint", our, their, speed, **facts)


def round_trip(setup, text):
    """Whether the words of the report are the words of the PDF, in order."""
    server = Server(setup.program("media-transform-mcp"))
    ref = server.call("convert_to_pdf", {"text": text, "from": "markdown"})["ref_id"]
    back = server.call("convert", {"source_ref_id": ref, "to": "text"})
    plain = server.call("convert", {"text": text, "from": "markdown", "to": "text"})
    words = []
    for answer in (back, plain):
        content = answer.get("content")
        if content is None:
            link = server.request("resources/read", {"uri": f"ref://{answer['ref_id']}"})
            content = link["contents"][0]["text"]
        words.append(re.findall(r"\w+", content))
    server.end()
    # Page numbers are added at the foot of pages.
    kept = [word for word in words[0] if not word.isdigit()], [word for word in words[1] if not word.isdigit()]
    return kept[0] == kept[1]


def subtitles(setup):
    with tempfile.TemporaryDirectory() as folder:
        cues = "".join(f"{n}\n00:00:{n:02},000 --> 00:00:{n:02},900\nLine {n}\n\n" for n in range(1, 50))
        srt, video = f"{folder}/made.srt", f"{folder}/made.mkv"
        with open(srt, "w", encoding="utf-8") as opened:
            opened.write(cues)
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=640x360:rate=25:duration=60", "-f", "lavfi", "-i"]
            + ["sine=duration=60", "-i", srt, "-map", "0", "-map", "1", "-map", "2", "-c:v", "mpeg4", "-c:s", "srt", video],
            check=True,
        )
        served = serve_folder(folder)
        url = f"http://127.0.0.1:{served.server_port}/made.mkv"
        program, flags = setup.program("video-subtitle-mcp"), ("--allow", f"127.0.0.1:{served.server_port}", "--keep", "off")
        our = ours(program, [("extract_subtitles", {"input_url": url})] * 5, *flags)
        their = peer("ffmpeg", video)
        served.shutdown()
    their["cpu_s"] *= 5
    row("subtitles: CPU", "<= 1.2 x ffmpeg", our, their, costs(our, their))


def serve_folder(folder):
    from functools import partial
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    served = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    threading.Thread(target=served.serve_forever, daemon=True).start()
    return served


def creatives(setup):
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/photo.jpg"
        noise = Image.effect_noise((1000, 750), 60).resize((4000, 3000)).convert("RGB")
        noise.save(path, quality=90)
        calls = [("analyze_creative", {**file_arguments(path, "image"), "platform": "instagram"})] * 3
        our = ours(setup.program("social-intelligence-mcp"), calls, "--tesseract", "/nonexistent")
        their = peer("pillow", path)
    their["cpu_s"] *= 3
    row("12-megapixel JPEG: CPU", "<= 1.5 x Pillow's decoding", our, their, costs(our, their))


FASTMCP = "from fastmcp import FastMCP\nFastMCP('empty').run(show_banner=False)\n"


def idle(setup):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/empty.py"
        with open(path, "w", encoding="utf-8") as opened:
            opened.write(FASTMCP)
        peers = IdlePeer([sys.executable, path])
    figures = {}
    for name in NAMES:
        server = Server(setup.program(name))
        time.sleep(1)
        figures[name] = round(server.resident_mb(), 1)
        server.end()
    worst = max(figures.values())
    line = {"row": "idle over stdio: MB, the largest", "ratio": round(worst / peers.resident, 3), "target": "<= 0.5 x FastMCP"}
    print(json.dumps(line | {"fastmcp_mb": round(peers.resident, 1), "mb": figures}), flush=True)


class IdlePeer:
    def __init__(self, command):
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "idle", "version": "1"}}
        child.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}) + "\n")
        child.stdin.flush()
        child.stdout.readline()
        time.sleep(1)
        with open(f"/proc/{child.pid}/status", encoding="utf-8") as status:
            self.resident = int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024
        child.stdin.close()
        child.kill()
        child.wait()


NAMES = [
    "audit-compliance-mcp",
    "doc-parser-mcp",
    "image-ocr-mcp",
    "job-search-mcp",
    "media-transform-mcp",
    "resume-profile-mcp",
    "social-intelligence-mcp",
    "text-analysis-mcp",
    "video-subtitle-mcp",
]

ROWS = {
    "resumes": resumes,
    "skills": skills,
    "keywords": keywords,
    "pdf-text": pdf_text,
    "large-pdfs": large_pdfs,
    "tables": tables,
    "pii": pii,
    "ocr": ocr,
    "ocr-models": ocr_models,
    "pdf-output": pdf_output,
    "subtitles": subtitles,
    "creatives": creatives,
    "idle": idle,
}


def main():
    if sys.argv[1:2] == ["--peer"]:
        run_peer(sys.argv[2])
        return
    usage = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usage.add_argument("--binaries", required=True)
    usage.add_argument("--data", required=True)
    usage.add_argument("--only", default=",".join(ROWS))
    usage.add_argument("--ocr-models")
    setup = usage.parse_args()
    setup.program = lambda name: os.path.join(setup.binaries, name)
    failed = False
    for name in setup.only.split(","):
        try:
            ROWS[name](setup)
        except Exception as fault:
            failed = True
            print(f"{name}: {fault}", file=sys.stderr, flush=True)
    sys.exit(failed)


main()
