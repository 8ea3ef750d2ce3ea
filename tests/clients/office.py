"""Opens what media-transform-mcp writes with python-docx and LibreOffice; see scripts/office-check."""

import base64
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import docx

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)
MADE = {
    "everything": f"# Title *with* `code`\n\nText **bold** [link](https://example.org/?a=1&b=2) note[^1] again[^1].\n\n## Lists\n\n"
    "1. one\n2. two\n   - inner\n     1. deep\n3. three\n\ntext\n\n7. seven\n\n> A quote.\n>\n> Its second part.\n\n"
    "```rust\nfn main() {\n\tprintln!(\"<&>\");\n}\n```\n\n| a | b | c |\n|:--|:-:|--:|\n| 1 | 2 | 3 |\n\n"
    f"![dot]({PIXEL})\n\n---\n\n[^1]: A note with a [link](https://example.org).\n[^2]: Not cited.\n",
    "table": "# Numbers\n\n| name | " + " | ".join(f"c{i}" for i in range(8)) + " |\n|---|" + "--:|" * 8 + "\n"
    + "".join(f"| row {r} | " + " | ".join(str(r * c) for c in range(8)) + " |\n" for r in range(150)),
    "german": "# Über Wörter\n\n" + "Die Donaudampfschifffahrtsgesellschaft und das Rindfleischetikettierungsüberwachungsgesetz. " * 30,
    "empty-ish": "x",
}


class Server:
    def __init__(self, program):
        command = [program, "--stdio", "--keep", "off"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.next = 0

    def request(self, method, params):
        self.next += 1
        message = {"jsonrpc": "2.0", "id": self.next, "method": method, "params": {**params, "_meta": META}}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return answer.get("result") or answer

    def call(self, tool, arguments):
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return result["structuredContent"]

    def file(self, answer):
        uri = f"kept://media-transform-mcp/{answer['ref_id']}/{answer['name']}"
        return base64.b64decode(self.request("resources/read", {"uri": uri})["contents"][0]["blob"])


def words(text):
    return collections.Counter(re.findall(r"[^\W\d_]{2,}", text))


def convert(paths, to, folder):
    """Converts files in one run of LibreOffice."""
    profile = f"-env:UserInstallation=file://{folder}/profile"
    command = ["soffice", "--headless", profile, "--convert-to", to, "--outdir", folder, *paths]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=1800)
    return [pathlib.Path(folder) / f"{pathlib.Path(path).stem}.{to}" for path in paths]


def write_docx(server, name, text, folder):
    path = pathlib.Path(folder) / f"{name}.docx"
    path.write_bytes(server.file(server.call("generate_docx", {"text": text})))
    return path


def check_docx(server, text, path, pdf):
    if not docx.Document(path).paragraphs:
        return "python-docx finds no paragraphs"
    if not pdf.exists():
        return "LibreOffice does not convert it"
    shown = subprocess.run(["pdftotext", "-layout", pdf, "-"], check=True, capture_output=True, text=True).stdout
    plain = server.call("convert", {"text": text, "to": "text"})
    plain = plain.get("content") or server.file(plain).decode()
    # A word may be broken at the end of a line of code or of a narrow cell.
    missing = words(plain) - words(shown)
    share = sum(missing.values()) / max(1, sum(words(plain).values()))
    return f"{share:.1%} of the words are missing: {list(missing)[:8]}" if share > 0.05 else None


def check_old_formats(servers, server, folder):
    parser = Server(servers / "doc-parser-mcp")
    path = pathlib.Path(folder) / "source.docx"
    path.write_bytes(server.file(server.call("generate_docx", {"text": MADE["everything"]})))
    sheet = pathlib.Path(folder) / "sheet.csv"
    sheet.write_text("name,km\nElm,120\n")
    [odt] = convert([path], "odt", folder)
    for source, extension, expected in [
        (path, "doc", "quote"), (odt, "odt", "quote"), (path, "rtf", "quote"), (sheet, "xls", "Elm"), (sheet, "ods", "Elm"),
    ]:
        made = source if source.suffix == f".{extension}" else convert([source], extension, folder)[0]
        answer = parser.call("extract_text", {"file_data": base64.b64encode(made.read_bytes()).decode()})
        ok = expected in answer["text"] and answer["engine"]["name"] == "libreoffice"
        yield f"doc-parser-mcp .{extension}", None if ok else f"unexpected answer: {str(answer)[:200]}"


def check_all(servers, guide, folder):
    server = Server(servers / "media-transform-mcp")
    texts = dict(MADE)
    texts.update({page.stem: page.read_text() for page in sorted(guide.glob("*.md"))})
    paths = [write_docx(server, name, text, folder) for name, text in texts.items()]
    for text, path, pdf in zip(texts.values(), paths, convert(paths, "pdf", folder)):
        yield path.stem, check_docx(server, text, path, pdf)
    yield from check_old_formats(servers, server, folder)


def main():
    servers, guide = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, problem in check_all(servers, guide, folder):
            count += 1
            failed += problem is not None
            print(f"{'FAILED' if problem else 'ok':7} {name}{': ' + problem if problem else ''}", flush=True)
    print(f"{count - failed} of {count} passed")
    sys.exit(1 if failed else 0)


main()
