"""The requirement page's asynchronous example; only the wait for the plan is added to it."""

import asyncio
import json
import sys

from shannon import AsyncShannonClient
from shannon.errors import TaskNotFoundError

base_url, api_key = sys.argv[1:]


async def review_workflow() -> None:
    client = AsyncShannonClient(base_url=base_url, api_key=api_key)

    handle = await client.submit_task(
        "Analyze AI agent frameworks",
        context={"force_research": True, "require_review": True},
    )

    while True:
        try:
            state = await client.get_review_state(handle.workflow_id)
            break
        except TaskNotFoundError:
            await asyncio.sleep(0.2)

    updated = await client.submit_review_feedback(
        handle.workflow_id,
        "Focus on LangGraph vs CrewAI",
        version=state.version,
    )

    approved = await client.approve_review(handle.workflow_id, version=updated.version)
    final = await client.wait(handle.task_id, timeout=600)

    await client.close()
    versions = [state.version, updated.version]
    print(json.dumps({"versions": versions, "approved": approved, "status": final.status.value}))


asyncio.run(review_workflow())
