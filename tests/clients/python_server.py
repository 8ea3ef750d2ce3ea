"""A server built with the Python SDK, for scripts/bridges: it sends questions and notifications to its caller."""

from typing import Annotated

from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from pydantic import BaseModel

server = MCPServer("python")


class Answer(BaseModel):
    name: str


def who() -> Elicit[Answer]:
    return Elicit("Who is it?", Answer)


@server.tool()
async def greet(answer: Annotated[Answer, Resolve(who)]) -> str:
    """Greets the person who answers."""
    return f"Hello, {answer.name}!"


@server.tool()
async def count(ctx: Context) -> str:
    """Counts to two and reports progress."""
    for step in (1, 2):
        await ctx.report_progress(step, 2)
    return "Counted."


@server.resource("python://note")
def note() -> str:
    return "A note from Python."


@server.prompt()
def review(topic: str) -> str:
    return f"Review {topic}."


if __name__ == "__main__":
    server.run("stdio")
