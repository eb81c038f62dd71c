"""The requirement page's whole example, with an address and a key: run by another Python."""

import json
import sys
import time

from shannon import ShannonClient

base_url, api_key = sys.argv[1:]
client = ShannonClient(base_url=base_url, api_key=api_key)

handle = client.submit_task(
    "Analyze the market for AI coding assistants",
    context={"force_research": True, "require_review": True},
)

state = None
for _ in range(30):
    try:
        state = client.get_review_state(handle.workflow_id)
        if state.status == "reviewing":
            break
    except Exception:
        pass
    time.sleep(2)

first = {"round": state.round, "version": state.version, "plan": state.current_plan}

updated = client.submit_review_feedback(
    handle.workflow_id,
    "Include Cursor, GitHub Copilot, and Windsurf. Compare pricing tiers.",
    version=state.version,
)
second = {"round": updated.round, "version": updated.version, "plan": updated.current_plan}

approved = client.approve_review(handle.workflow_id, version=updated.version)

final = client.wait(handle.task_id, timeout=600)
client.close()
print(
    json.dumps(
        {
            "first": first,
            "second": second,
            "approved": approved,
            "status": final.status.value,
            "result": final.result,
        }
    )
)
