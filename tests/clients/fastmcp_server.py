"""A server built with FastMCP, with what the conformance suite asks of a server.

usage: fastmcp_server.py PORT
"""

import asyncio
import sys

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.prompts import Message
from fastmcp.tools import ToolResult
from mcp.types import AudioContent, EmbeddedResource, ImageContent, TextContent, TextResourceContents
from pydantic import BaseModel

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

server = FastMCP("fastmcp-conformance")


def text(content: str) -> TextContent:
    return TextContent(type="text", text=content)


def image() -> ImageContent:
    return ImageContent(type="image", data=PIXEL, mimeType="image/png")


def embedded(uri: str) -> EmbeddedResource:
    resource = TextResourceContents(uri=uri, mimeType="text/plain", text="This is an embedded resource content.")
    return EmbeddedResource(type="resource", resource=resource)


def says(name: str, *content) -> None:
    async def run() -> ToolResult:
        return ToolResult(content=list(content))

    server.tool(run, name=name, description=f"Tests {name}.")


says("test_simple_text", text("This is a simple text response for testing."))
says("test_image_content", image())
says("test_audio_content", AudioContent(type="audio", data=SILENCE, mimeType="audio/wav"))
says("test_embedded_resource", embedded("test://embedded-resource"))
says(
    "test_multiple_content_types",
    text("Multiple content types test:"),
    image(),
    embedded("test://mixed-content-resource"),
)


@server.tool()
async def test_error_handling() -> str:
    raise ToolError("This tool intentionally returns an error for testing")


@server.tool()
async def test_tool_with_logging(ctx: Context) -> str:
    for step in ("started", "processing data", "completed"):
        await ctx.info(f"Tool execution {step}")
        await asyncio.sleep(0.02)
    return "done"


@server.tool()
async def test_tool_with_progress(ctx: Context) -> str:
    for progress in (0, 50, 100):
        await ctx.report_progress(progress, 100)
        await asyncio.sleep(0.02)
    return "done"


@server.tool()
async def test_sampling(prompt: str, ctx: Context) -> str:
    answer = await ctx.sample(prompt, max_tokens=100)
    return f"LLM response: {answer.text}"


class Person(BaseModel):
    username: str
    email: str


@server.tool()
async def test_elicitation(message: str, ctx: Context) -> str:
    answer = await ctx.elicit(message, Person)
    return f"User response: action={answer.action}"


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:
    return f'{{"id": "{id}", "templateTest": true, "data": "Data for ID: {id}"}}'


@server.prompt()
def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:
    return [Message(embedded(resourceUri)), Message("Please process it.")]


@server.prompt()
def test_prompt_with_image() -> list[Message]:
    return [Message(image()), Message("Please analyze the image above.")]


if __name__ == "__main__":
    server.run("http", host="127.0.0.1", port=int(sys.argv[1]), path="/mcp", show_banner=False)
