"""verl's own reward manager, which also says how many tokens a response has and of which step it is."""
import os
import sys

from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager

# Whether service/ draws the tasks, and whether it scores what Python cannot.
SERVICE = False
SCORES = False


def service_scores():
    """Where this process asks the service, which the training loop has started."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "service"))
    from gradus_curriculum import Curriculum

    os.environ["GRADUS_REWARD_URL"] = Curriculum(starts=False).reward_url()


class WithTokens(NaiveRewardManager):
    def __init__(self, *positional, **named):
        super().__init__(*positional, **named)
        self.served = SERVICE and os.environ.get("GRADUS_SERVICE") != "off"
        if self.served and SCORES and not os.environ.get("GRADUS_REWARD_URL"):
            service_scores()

    async def run_single(self, data):
        extra = dict(data.non_tensor_batch["extra_info"][-1])
        longest = data.batch["responses"].shape[-1]
        extra["gradus_tokens"] = int(data.batch["attention_mask"][-1, -longest:].sum())
        steps = data.non_tensor_batch.get("global_steps")
        if steps is not None:
            extra["gradus_step"] = int(steps[-1])
        # Terms that do not apply stay None here; verl's sum has 0 for them.
        said = extra["gradus_said"] = {}
        data.non_tensor_batch["extra_info"][-1] = extra
        result = await super().run_single(data)
        if self.served and extra.get("split") == "train":
            result["reward_extra_info"]["gradus"] = said
        return result
