"""OpenRLHF's own rollouts of one turn, scored by reward.py, which is given the response's own tokens as text."""
import asyncio
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
# A Ray cluster that ran before has not what launch.sh says.
os.environ.setdefault("GRADUS_ROLLOUTS", os.path.join(HERE, "out", "gradus-rollouts"))

from openrlhf.utils.agent import SingleTurnAgentExecutor
from reward import rewarded


class AgentExecutor(SingleTurnAgentExecutor):
    async def execute(self, prompt, label, sampling_params, max_length, hf_tokenizer, llm_engine, images=None):
        output = await super().execute(
            prompt, label, sampling_params, max_length, hf_tokenizer, llm_engine, images
        )
        ((start, end),) = output["action_ranges"]
        tokens = output["observation_tokens"][start:end]
        response = hf_tokenizer.decode(tokens, skip_special_tokens=True)
        output.update(await asyncio.to_thread(rewarded, label, response, len(tokens)))
        return output
