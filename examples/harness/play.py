"""One rollout: asks the policy, checks its answer, lets it try once more, and prints the verdict. Standard library only."""

import json
import os
import sys
import urllib.request

work = json.load(sys.stdin)
task = work["task"]


def reply(messages: list) -> str:
    """What the policy says next, over OpenAI's chat API."""
    request = urllib.request.Request(
        f"{os.environ['OPENAI_BASE_URL']}/chat/completions",
        data=json.dumps({"model": os.environ["GRADUS_MODEL"], "messages": messages}).encode(),
        headers={
            "authorization": f"Bearer {os.environ['OPENAI_API_KEY']}",
            "content-type": "application/json",
        },
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


messages = [{"role": "user", "content": task["prompt"]}]
first = reply(messages)
right = first.strip() == task["answer"]
reward = float(right)
if not right:
    messages += [
        {"role": "assistant", "content": first},
        {"role": "user", "content": f"No. {task['prompt']}"},
    ]
    # A late answer is worth less.
    reward = 0.25 * (reply(messages).strip() == task["answer"])
print(json.dumps({"reward": reward, "components": {"first": float(right)}}))
