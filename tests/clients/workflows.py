"""The patterns of the guide to workflows, with the official Python client.

usage: workflows.py MODE PREFIX CODEBASE open URL
       workflows.py MODE PREFIX CODEBASE guarded URL OWNER_KEY REVIEWER_KEY

MODE is legacy or 2026-07-28, PREFIX what the tools' names begin with, such as `agentcards:`. Without `auth:` the person at the
client approves by a form; with it, another person does, and the starter's own credential is refused.
"""

import asyncio
import sys
from contextlib import AsyncExitStack

import httpx2
import mcp.types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

mode, prefix, codebase, kind, url, *keys = sys.argv[1:]
forms = []


async def elicit(_, params):
    forms.append(params.message)
    content = {}
    for name, field in params.requested_schema["properties"].items():
        choices = field.get("enum") or [option["const"] for option in field.get("oneOf", [])]
        if choices:
            content[name] = next(choice for choice in choices if "approve" in choice)
        elif field["type"] == "boolean":
            content[name] = True
    return types.ElicitResult(action="accept", content=content)


class Workflows:
    """The tools, by name: `await workflows.execute_dag(workflow=…)`."""

    def __init__(self, client):
        self.client = client

    def __getattr__(self, tool):
        tool = tool.rstrip("_")  # `continue` is a keyword.

        async def call(**arguments):
            result = await self.client.call_tool(f"{prefix}{tool}", arguments, read_timeout_seconds=60)
            answer = result.structured_content
            assert answer is not None, f"{tool}: {result}"
            if result.is_error:
                assert set(answer) == {"error"}, answer
                assert set(answer["error"]) <= {"code", "message", "data"}, answer
            return answer

        return call

    async def refused(self, code, text, tool, **arguments):
        """The data of an error with this number and these words."""
        answer = await getattr(self, tool)(**arguments)
        error = answer.get("error")
        assert error and error["code"] == code and text in error["message"], f"{tool}: {answer}"
        return error.get("data", {})


def search(identifier, pattern, suffix):
    arguments = {"pattern": pattern, "path": codebase, "suffix": suffix}
    return {"id": identifier, "tool": "grep:search", "arguments": arguments, "depends_on": []}


ANALYSIS = [
    search("task-1", r": any\b|TODO", ".ts"),
    {
        "id": "task-2",
        "tool": "analyzer:lint",
        "arguments": {"files": "{{ tasks.task-1.output.files }}"},
        "depends_on": ["task-1"],
    },
]
PER_LAYER = {"per_layer_validation": True}


def statuses(results):
    return {result["task_id"]: result["status"] for result in results}


def output(response, task):
    return next(result["output"] for result in response["layer_results"] if result["task_id"] == task)


async def progressive_validation(workflows):
    response = await workflows.execute_dag(workflow={"tasks": ANALYSIS}, config=PER_LAYER)
    layers = 0
    while response["status"] == "layer_complete":
        assert response["layer_index"] == layers, response
        assert response["checkpoint_id"].startswith("chk_"), response
        assert response["options"] == ["continue", "replan", "abort"], response
        assert set(statuses(response["layer_results"]).values()) == {"success"}, response
        layers += 1
        response = await workflows.continue_(workflow_id=response["workflow_id"], reason="Validation passed")
    assert response["status"] == "complete" and layers == 2, response
    assert statuses(response["results"]) == {"task-1": "success", "task-2": "success"}, response
    repeated = await workflows.continue_(workflow_id=response["workflow_id"])
    assert repeated["results"] == response["results"], repeated

    # A layer that does not pass: everything stops, and what was done is reported.
    response = await workflows.execute_dag(workflow={"tasks": ANALYSIS}, config=PER_LAYER)
    stop = dict(workflow_id=response["workflow_id"], reason="Validation failed")
    response = await workflows.abort(**stop)
    assert response["status"] == "aborted" and response["completed_layers"] == 1, response
    assert response["reason"] == "Validation failed", response
    assert statuses(response["partial_results"])["task-1"] == "success", response
    assert (await workflows.abort(**stop))["status"] == "aborted"
    await workflows.refused(-32004, "Workflow not found or expired", "continue", workflow_id=response["workflow_id"])


async def adaptive_discovery(workflows):
    response = await workflows.execute_dag(workflow={"tasks": [search("list", "<", ".xml")]}, config=PER_LAYER)
    found = output(response, "list")["files"]
    assert len(found) == 1, response
    requirement = dict(workflow_id=response["workflow_id"], new_requirement="Parse XML files for configuration data")
    planned = await workflows.replan(**requirement, available_context={"discovered_files": found})
    assert planned["status"] == "replanned" and planned["missing"] == [], planned
    assert [task["tool"] for task in planned["new_tasks"]] == ["xml:parse@1", "xml:validate@1"], planned
    response = await workflows.inject_tasks(
        workflow_id=response["workflow_id"],
        tasks=[
            {"id": "task-xml-parser", "tool": "xml:parse", "arguments": {"path": found[0]}, "depends_on": ["list"]},
            {"id": "task-xml-validator", "tool": "xml:validate", "arguments": {"path": found[0]}},
        ],
    )
    assert response["status"] == "replanned" and response["options"] == ["continue", "abort"], response
    assert [task["id"] for task in response["new_tasks"]] == ["task-xml-parser", "task-xml-validator"], response
    response = await workflows.continue_(workflow_id=response["workflow_id"])
    assert response["status"] == "layer_complete" and response["layer_index"] == 1, response
    assert output(response, "task-xml-parser")["root"] == "config", response
    assert output(response, "task-xml-validator")["valid"] is True, response
    response = await workflows.continue_(workflow_id=response["workflow_id"])
    assert response["status"] == "complete" and len(response["results"]) == 5, response


DEPLOYMENT = [
    {"id": "build", "tool": "ledger:work", "arguments": {"task": "build"}},
    {"id": "deploy", "tool": "ledger:deploy", "arguments": {"task": "deploy"}, "depends_on": ["build"]},
]


async def approval_gates(workflows, approve, approved):
    """`approve` answers an approval checkpoint and returns the next response."""
    response = await workflows.execute_dag(workflow={"tasks": DEPLOYMENT}, config=PER_LAYER)
    asked = 0
    while response["status"] == "layer_complete":
        if response.get("checkpoint_type") == "approval_required":
            asked += 1
            assert "deploy" in response["decision_context"], response
            assert [decision["task_id"] for decision in response["decisions"]] == ["deploy"], response
            assert response["options"] == ["approval_response", "abort"], response
            response = await approve(response, approved)
            if not approved:
                break
        else:
            response = await workflows.continue_(workflow_id=response["workflow_id"])
    assert asked == 1, response
    if approved:
        assert response["status"] == "complete", response
        assert statuses(response["results"]) == {"build": "success", "deploy": "success"}, response
        return
    assert response["status"] == "rejected" and response["feedback"] == "Too risky for production", response
    ended = await workflows.abort(workflow_id=response["workflow_id"], reason="rejected")
    results = statuses(ended["partial_results"])
    assert results["build"] == "success" and results["deploy"] == "failed", ended


def decision(response, approved):
    return {
        "workflow_id": response["workflow_id"],
        "checkpoint_id": response["checkpoint_id"],
        "approved": approved,
        "feedback": "" if approved else "Too risky for production",
    }


async def complete_example(workflows):
    planned = await workflows.execute_dag(intent="Analyze TypeScript codebase for issues", config=PER_LAYER)
    assert planned["status"] == "planned" and planned["missing"], planned
    await workflows.refused(-32602, "missing", "continue", workflow_id=planned["workflow_id"])
    await workflows.abort(workflow_id=planned["workflow_id"], reason="Only planned")
    response = await workflows.execute_dag(workflow={"tasks": ANALYSIS}, config=PER_LAYER)
    deepened = False
    while response["status"] == "layer_complete":
        issues = [
            issue
            for result in response["layer_results"]
            if result["task_id"] == "task-2"
            for issue in result["output"]["issues"]
        ]
        if issues and not deepened:
            deepened = True
            files = sorted({issue["file"] for issue in issues})
            response = await workflows.inject_tasks(
                workflow_id=response["workflow_id"],
                tasks=[
                    {
                        "id": "deep",
                        "tool": "analyzer:lint",
                        "for_each": files,
                        "arguments": {"files": ["{{ item }}"]},
                        "depends_on": ["task-2"],
                    }
                ],
            )
            assert response["status"] == "replanned", response
            response = await workflows.continue_(workflow_id=response["workflow_id"], reason="Added deep analysis tasks")
        else:
            response = await workflows.continue_(workflow_id=response["workflow_id"])
    assert response["status"] == "complete" and deepened, response
    deep = next(result for result in response["results"] if result["task_id"] == "deep")
    assert all(item["checked"] == 1 and item["issues"] for item in deep["output"]), deep


async def connect(stack, key=None, asks=None):
    target = url
    if key:
        http = await stack.enter_async_context(httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=60))
        target = streamable_http_client(url, http_client=http)
    client = Client(target, mode=mode, elicitation_callback=asks)
    return Workflows(await stack.enter_async_context(client))


async def open_gateway(stack):
    workflows = await connect(stack, asks=elicit)
    await progressive_validation(workflows)
    await adaptive_discovery(workflows)

    async def by_form(response, approved):
        forms.clear()
        answer = await workflows.approval_response(**decision(response, approved))
        # A rejection needs no right, so no person is asked.
        assert len(forms) == (1 if approved else 0), forms
        return answer

    await approval_gates(workflows, by_form, True)
    await approval_gates(workflows, by_form, False)
    await complete_example(workflows)


async def guarded_gateway(stack):
    owner, reviewer = keys
    workflows = await connect(stack, owner, asks=elicit)
    second = await connect(stack, reviewer)

    async def by_second_person(response, approved):
        await workflows.refused(-32003, "", "approval_response", **decision(response, True))
        assert forms == [], forms
        return await second.approval_response(**decision(response, approved))

    await approval_gates(workflows, by_second_person, True)
    await approval_gates(workflows, by_second_person, False)
    # Another caller of the tenant does not see the workflow.
    response = await workflows.execute_dag(workflow={"tasks": ANALYSIS}, config=PER_LAYER)
    await second.refused(-32004, "Workflow not found or expired", "continue", workflow_id=response["workflow_id"])
    await workflows.abort(workflow_id=response["workflow_id"], reason="done")


async def main():
    async with AsyncExitStack() as stack:
        await (open_gateway if kind == "open" else guarded_gateway)(stack)


def causes(error):
    """The leaves of an exception group, in words."""
    if isinstance(error, BaseExceptionGroup):
        return [cause for inner in error.exceptions for cause in causes(inner)]
    return [f"{type(error).__name__}: {error}"]


try:
    asyncio.run(main())
except Exception as error:
    sys.exit(" ".join("; ".join(causes(error)).split()))
