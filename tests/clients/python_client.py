"""Lists and calls one tool with the official Python client.

usage: python_client.py MODE TOOL ARGUMENTS EXPECTED (http URL | stdio COMMAND ARGS...)
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters

MODERN = "2026-07-28"


def judge(mode, version, tool, names, result, expected):
    """The reason why the check fails, or nothing."""
    if (mode == "legacy") == (version >= MODERN):
        return f"mode {mode} ended at revision {version}"
    if tool not in names:
        return f"tools/list names {len(names)} tools, {tool} is not among them"
    text = "".join(getattr(block, "text", "") for block in result.content)
    if result.is_error:
        return f"tools/call failed: {text}"
    if not result.content or expected not in text:
        return f"tools/call answered {text!r}"
    return None


async def check(mode, tool, arguments, expected, target):
    async with Client(target, mode=mode, read_timeout_seconds=30) as client:
        names = []
        cursor = None
        while True:
            page = await client.list_tools(cursor=cursor)
            names += [listed.name for listed in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                break
        result = await client.call_tool(tool, arguments) if tool in names else None
        return judge(mode, client.protocol_version, tool, names, result, expected)


def causes(error):
    """The leaves of an exception group, in words."""
    if isinstance(error, BaseExceptionGroup):
        return [cause for inner in error.exceptions for cause in causes(inner)]
    return [f"{type(error).__name__}: {error}"]


def main():
    mode, tool, arguments, expected, kind, *target = sys.argv[1:]
    server = target[0] if kind == "http" else StdioServerParameters(command=target[0], args=target[1:])
    try:
        reason = asyncio.run(check(mode, tool, json.loads(arguments), expected, server))
    except Exception as error:
        reason = "; ".join(causes(error))
    if reason:
        sys.exit(reason)


main()
