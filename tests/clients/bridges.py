"""usage: bridges.py MODE URL SERVER...: what servers of other people offer and ask, through the gateway."""

import asyncio
import sys

import mcp.types as types
from mcp import Client

mode, url, *servers = sys.argv[1:]
asked, steps = [], []


async def elicit(_, params):
    asked.append("elicitation")
    return types.ElicitResult(action="accept", content={"name": "Ada", "check": True})


async def sample(_, params):
    asked.append("sampling")
    text = types.TextContent(type="text", text="sampled")
    return types.CreateMessageResult(role="assistant", model="test", content=text)


async def roots(_):
    asked.append("roots")
    return types.ListRootsResult(roots=[types.Root(uri="file:///work", name="work")])


async def progress(done, total, message):
    steps.append((done, total))


async def call(client, tool, arguments, questions, text, **options):
    asked.clear()
    result = await asyncio.wait_for(client.call_tool(tool, arguments, **options), 20)
    said = "\n".join(block.text for block in result.content if block.type == "text")
    assert not result.is_error and text in said, f"{tool}: {said}"
    assert questions is None or asked == questions, f"{tool} asked {asked}"


async def modern(client):
    await call(client, "modern__greet", {"name": "Eve"}, [], "Hello, Eve!")
    for tool, question, text in (
        ("elicitation", "elicitation", "Hello, Ada!"),
        ("sampling", "sampling", "sampled"),
        ("list_roots", "roots", "file:///work"),
    ):
        await call(client, f"modern__test_input_required_result_{tool}", {}, [question], text)
    prompt = await client.get_prompt("modern__test_prompt_with_arguments", {"arg1": "one", "arg2": "two"})
    assert "arg2='two'" in prompt.messages[0].content.text, prompt
    read = await client.read_resource("test://static-text")
    assert "static text resource" in read.contents[0].text, read


async def main():
    callbacks = dict(elicitation_callback=elicit, sampling_callback=sample, list_roots_callback=roots)
    async with Client(url, mode=mode, **callbacks) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        for server in ("near", "far", "old"):
            await call(client, f"{server}__echo", {"message": "hi"}, [], "hi")
            for tool, arguments, question, text in (
                ("trigger-elicitation-request", {}, ["elicitation"], "Ada"),
                ("trigger-sampling-request", {"prompt": "hello"}, ["sampling"], "sampled"),
                # The server asks for roots once and remembers them.
                ("get-roots-list", {}, None, "file:///work"),
            ):
                assert f"{server}__{tool}" in tools, f"{server}__{tool} is not listed"
                await call(client, f"{server}__{tool}", arguments, question, text)
            steps.clear()
            name, work = f"{server}__trigger-long-running-operation", {"duration": 1, "steps": 2}
            await call(client, name, work, [], "completed", progress_callback=progress)
            assert steps == [(1, 2), (2, 2)], f"progress of {server}: {steps}"
            # Runs as a task only: the gateway waits for it, and its states are progress.
            steps.clear()
            research = f"{server}__simulate-research-query"
            await call(client, research, {"topic": "ants"}, [], "Research Report", progress_callback=progress)
            assert len(steps) > 1, f"progress of {research}: {steps}"
        await call(client, "python__greet", {}, ["elicitation"], "Hello, Ada!")
        steps.clear()
        await call(client, "python__count", {}, [], "Counted.", progress_callback=progress)
        assert steps == [(1, 2), (2, 2)], f"progress of python: {steps}"

        if "modern" in servers:
            await modern(client)

        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        assert {"near__simple-prompt", "far__simple-prompt", "python__review"} <= prompts, prompts
        review = await client.get_prompt("python__review", {"topic": "this"})
        assert review.messages[0].content.text == "Review this.", review
        uris = [str(resource.uri) for resource in (await client.list_resources()).resources]
        # Three servers offer the same URIs: the first to offer them owns the plain ones.
        qualified = {uri.partition("+demo:")[0] for uri in uris if "+demo:" in uri}
        assert "python://note" in uris and len(qualified) == 2 and qualified < {"near", "far", "old"}, uris
        for uri in ("python://note", uris[0], uris[-1], "demo://resource/dynamic/text/1"):
            read = await client.read_resource(uri)
            assert read.contents, uri


def causes(error):
    """The leaves of an exception group, in words."""
    if isinstance(error, BaseExceptionGroup):
        return [cause for inner in error.exceptions for cause in causes(inner)]
    return [f"{type(error).__name__}: {error}"]


try:
    asyncio.run(main())
except Exception as error:
    sys.exit(" ".join("; ".join(causes(error)).split()))
