"""verl's own reward manager, which also says how many tokens a response has and of which step it is."""
from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager


class WithTokens(NaiveRewardManager):
    async def run_single(self, data):
        extra = dict(data.non_tensor_batch["extra_info"][-1])
        longest = data.batch["responses"].shape[-1]
        extra["gradus_tokens"] = int(data.batch["attention_mask"][-1, -longest:].sum())
        steps = data.non_tensor_batch.get("global_steps")
        if steps is not None:
            extra["gradus_step"] = int(steps[-1])
        data.non_tensor_batch["extra_info"][-1] = extra
        return await super().run_single(data)
