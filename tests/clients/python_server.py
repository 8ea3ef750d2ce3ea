"""A server built with the Python SDK, for scripts/bridges: it asks and tells its caller things."""

from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

server = MCPServer("python")


class Answer(BaseModel):
    name: str


@server.tool()
async def greet(ctx: Context) -> str:
    """Greets whoever answers."""
    reply = await ctx.elicit("Who is it?", schema=Answer)
    return f"Hello, {reply.data.name}!" if reply.action == "accept" else "Hello, whoever you are."


@server.tool()
async def count(ctx: Context) -> str:
    """Counts to two and tells how far it is."""
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
