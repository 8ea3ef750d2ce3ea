#!/usr/bin/env python3
"""@NAME@: an MCP server over stdin and stdout, with nothing but Python's standard library.

Add a tool by writing a function with `@tool(...)` above it. Print nothing to stdout: it carries the protocol;
log to stderr instead.
"""

import json
import sys

NAME, VERSION = "@NAME@", "0.1.0"
REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26"]
TOOLS = {}


def tool(name, description, properties, required=()):
    """Offers a function as a tool; `properties` describe its arguments in JSON Schema."""

    def offer(function):
        schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
        TOOLS[name] = ({"name": name, "description": description, "inputSchema": schema}, function)
        return function

    return offer


@tool(
    "greet",
    "Greets a person by name. Use it to check that the server answers.",
    {"name": {"type": "string", "description": "The person to greet."}},
    required=["name"],
)
def greet(name):
    return {"greeting": f"Hello, {name}!"}


class Refused(Exception):
    """A request that cannot be answered, with its JSON-RPC error code."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def initialize(params):
    asked = params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in REVISIONS else REVISIONS[0],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": NAME, "version": VERSION},
    }


def check(arguments, schema):
    known = schema["properties"]
    faults = [f"`{key}` is missing" for key in schema["required"] if key not in arguments]
    faults += [f"`{key}` is not an argument" for key in arguments if key not in known]
    if faults:
        raise ValueError("; ".join(faults))


def call_tool(params):
    name, arguments = params.get("name"), params.get("arguments") or {}
    if name not in TOOLS:
        raise Refused(-32602, f"there is no tool `{name}`")
    listed, function = TOOLS[name]
    try:
        check(arguments, listed["inputSchema"])
        data = function(**arguments)
    except Exception as error:  # A failed tool is an answer that the model can act on, not a fault of the protocol.
        print(f"{name}: {error!r}", file=sys.stderr)
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    return {"content": [{"type": "text", "text": json.dumps(data)}], "structuredContent": data}


METHODS = {
    "initialize": initialize,
    "ping": lambda params: {},
    "tools/list": lambda params: {"tools": [listed for listed, _ in TOOLS.values()]},
    "tools/call": call_tool,
}


def answer(line):
    """The answer to one message, or None where none is due."""
    try:
        message = json.loads(line)
        if not isinstance(message, dict):
            raise ValueError("a message is an object")
    except ValueError as error:
        return {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": f"not a message: {error}"}}
    if "method" not in message or "id" not in message:
        return None
    try:
        method = METHODS.get(message["method"])
        if method is None:
            raise Refused(-32601, f"there is no method `{message['method']}`")
        return {"jsonrpc": "2.0", "id": message["id"], "result": method(message.get("params") or {})}
    except Refused as refused:
        return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": refused.code, "message": str(refused)}}


def main():
    for line in sys.stdin:
        if line.strip() and (reply := answer(line)) is not None:
            print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
