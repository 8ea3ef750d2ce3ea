"""Drives the gateway with the MCP client of one Python framework.

usage: frameworks.py FRAMEWORK (http URL | stdio COMMAND ARGS...)

Prints a line for each check: "ok CHECK", "no CHECK" if the framework has no such thing, or "FAIL CHECK reason".
"""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

CHECKS = ["list", "call", "error", "structured", "resource", "prompt"]
ECHO = "demo_echo"
STATS = "text_stats"
FAILING = "test_error_handling"
RESOURCE = "test://static-text"
PROMPT = "test_prompt_with_arguments"
PROMPT_ARGUMENTS = {"arg1": "hello", "arg2": "world"}


class Unsupported(Exception):
    """The framework has no API for this."""


def http_url(target):
    return target[1] if target[0] == "http" else None


def text_of(value):
    """Everything that an answer says, whatever the framework wraps it in."""
    for dump in ("model_dump_json", "json"):
        if callable(getattr(value, dump, None)):
            return getattr(value, dump)()
    if isinstance(value, (list, tuple)):
        return " ".join(text_of(item) for item in value)
    return value if isinstance(value, str) else repr(value)


class Sdk:
    """The calls of clients that answer with the SDK's own results."""

    def __init__(self, session):
        self.session = session

    async def names(self):
        listed = await self.session.list_tools()
        return [tool.name for tool in getattr(listed, "tools", listed)]

    async def call(self, name, arguments):
        return await self.session.call_tool(name, arguments)

    async def error(self, name):
        result = await self.session.call_tool(name, {})
        assert failed(result), f"not an error: {result}"
        return result

    async def structured(self, name, arguments):
        return structured(await self.session.call_tool(name, arguments))

    async def resource(self, uri):
        return await self.session.read_resource(uri)

    async def prompt(self, name, arguments):
        return await self.session.get_prompt(name, arguments)


def failed(result):
    return getattr(result, "is_error", None) or getattr(result, "isError", None)


def structured(result):
    return getattr(result, "structured_content", None) or getattr(result, "structuredContent", None)


@asynccontextmanager
async def langchain(target):
    from langchain_mcp_adapters.client import MultiServerMCPClient

    connection = {"transport": "http", "url": http_url(target)}
    if target[0] == "stdio":
        connection = {"transport": "stdio", "command": target[1], "args": target[2:]}
    client = MultiServerMCPClient({"gateway": connection})
    tools = {tool.name: tool for tool in await client.get_tools()}

    class LangChain:
        async def names(self):
            return list(tools)

        async def call(self, name, arguments):
            return await tools[name].ainvoke(arguments)

        async def error(self, name):
            message = await self.invoke(name, {})
            assert message.status == "error", f"not an error: {message}"
            return message.content

        async def structured(self, name, arguments):
            return (await self.invoke(name, arguments)).artifact["structured_content"]

        async def invoke(self, name, arguments):
            call = {"type": "tool_call", "id": "1", "name": name, "args": arguments}
            return await tools[name].ainvoke(call)

        async def resource(self, uri):
            [blob] = await client.get_resources("gateway", uris=[uri])
            return blob.as_string()

        async def prompt(self, name, arguments):
            return await client.get_prompt("gateway", name, arguments=arguments)

    yield LangChain()


@asynccontextmanager
async def openai_agents(target):
    from agents.mcp import MCPServerStdio, MCPServerStreamableHttp

    if target[0] == "stdio":
        server = MCPServerStdio(params={"command": target[1], "args": target[2:]}, client_session_timeout_seconds=60)
    else:
        server = MCPServerStreamableHttp(params={"url": target[1]}, client_session_timeout_seconds=60)
    async with server:
        yield Sdk(server)


@asynccontextmanager
async def pydantic_ai(target):
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai.exceptions import ModelRetry
    from pydantic_ai.mcp import MCPToolset

    toolset = MCPToolset(http_url(target) or StdioTransport(command=target[1], args=target[2:]))

    class PydanticAi(Sdk):
        async def call(self, name, arguments):
            return await toolset.direct_call_tool(name, arguments)

        async def error(self, name):
            # The model is asked to try again, with the message.
            try:
                result = await toolset.direct_call_tool(name, {})
            except ModelRetry as retry:
                return retry.message
            raise AssertionError(f"not an error: {result}")

        async def structured(self, name, arguments):
            return await toolset.direct_call_tool(name, arguments)

    async with toolset:
        yield PydanticAi(toolset)


@asynccontextmanager
async def llama_index(target):
    from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

    client = BasicMCPClient(target[1], args=target[2:], timeout=60)
    tools = {tool.metadata.name: tool for tool in await McpToolSpec(client=client).to_tool_list_async()}

    class LlamaIndex(Sdk):
        async def names(self):
            return list(tools)

        async def call(self, name, arguments):
            return (await tools[name].acall(**arguments)).content

    yield LlamaIndex(client)


@asynccontextmanager
async def mcp_use(target):
    from mcp_use import MCPClient

    entry = {"url": http_url(target)}
    if target[0] == "stdio":
        entry = {"command": target[1], "args": target[2:]}
    client = MCPClient.from_dict({"mcpServers": {"gateway": entry}})
    try:
        yield Sdk(await client.create_session("gateway"))
    finally:
        await client.close_all_sessions()


@asynccontextmanager
async def fastmcp(target):
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport
    from fastmcp.exceptions import ToolError

    class FastMcp(Sdk):
        async def error(self, name):
            try:
                result = await self.session.call_tool(name, {})
            except ToolError as error:
                return str(error)
            raise AssertionError(f"not an error: {result}")

    async with Client(http_url(target) or StdioTransport(command=target[1], args=target[2:])) as client:
        yield FastMcp(client)


FRAMEWORKS = {
    "langchain": langchain,
    "openai-agents": openai_agents,
    "pydantic-ai": pydantic_ai,
    "llama-index": llama_index,
    "mcp-use": mcp_use,
    "fastmcp": fastmcp,
}


async def check(client, name):
    if name == "list":
        names = await client.names()
        missing = {ECHO, STATS, FAILING} - set(names)
        assert not missing, f"{sorted(missing)} not among {len(names)} tools"
    elif name == "call":
        said = text_of(await client.call(ECHO, {"message": "hello, framework"}))
        assert "hello, framework" in said, said
    elif name == "error":
        said = text_of(await client.error(FAILING))
        assert "intentionally returns an error" in said, said
    elif name == "structured":
        found = await client.structured(STATS, {"text": "one two three"})
        assert isinstance(found, dict) and found.get("words") == 3, json.dumps(found, default=repr)
    elif name == "resource":
        said = text_of(await client.resource(RESOURCE))
        assert "static text" in said, said
    elif name == "prompt":
        said = text_of(await client.prompt(PROMPT, PROMPT_ARGUMENTS))
        assert "hello" in said and "world" in said, said


async def main():
    framework, *target = sys.argv[1:]
    done = set()
    try:
        async with FRAMEWORKS[framework](target) as client:
            for name in CHECKS:
                try:
                    await check(client, name)
                    print(f"ok {name}", flush=True)
                except Unsupported:
                    print(f"no {name}", flush=True)
                except Exception as error:  # Every reason is reported, and the other checks still run.
                    print(f"FAIL {name} {type(error).__name__}: {' '.join(str(error).split())[:300]}", flush=True)
                done.add(name)
    except Exception as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        for name in CHECKS:
            if name not in done:
                print(f"FAIL {name} {reason}", flush=True)


asyncio.run(main())
