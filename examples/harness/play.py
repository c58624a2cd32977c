"""One rollout: asks the policy, checks its answer, lets it try once more, and prints the verdict. Standard library only."""

import json
import os
import sys
import urllib.request

work = json.load(sys.stdin)
task = work["task"]


def complete(prompt: str) -> str:
    """The policy's continuation of a prompt, over OpenAI's completions API."""
    request = urllib.request.Request(
        f"{os.environ['OPENAI_BASE_URL']}/completions",
        data=json.dumps({"model": os.environ["GRADUS_MODEL"], "prompt": prompt}).encode(),
        headers={
            "authorization": f"Bearer {os.environ['OPENAI_API_KEY']}",
            "content-type": "application/json",
        },
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["text"]


first = complete(task["prompt"])
right = first.strip() == task["answer"]
if not right:
    second = complete(f"{task['prompt']}{first}\nNo. {task['prompt']}")
    right = second.strip() == task["answer"]
print(json.dumps({"reward": 1 if right else 0, "components": {"first": float(first.strip() == task["answer"])}}))
