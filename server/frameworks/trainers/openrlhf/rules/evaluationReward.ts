import { openrlhfRule } from "../openrlhfRule.ts";
import { scoredOutside } from "../cluster.ts";

export const evaluationReward = openrlhfRule({
  id: "openrlhf-evaluation-reward",
  title: "Evaluation without a reward",
  why: "Evaluation is scored at generation: by `reward.remote_url` (a server or a Python file) or by an agent. OpenRLHF's own reward model does not score it, and since OpenRLHF 0.11 openrlhf/cli/train_ppo_ray.py refuses `eval.dataset` with one.",
  check(flags) {
    const at = flags.written("eval.dataset");
    if (
      at === undefined ||
      flags.lacks("eval.dataset") ||
      scoredOutside(flags) !== false ||
      !flags.model.since("0.11.0")
    )
      return [];
    const message = `\`${flags.name("eval.dataset")}\` needs \`${flags.name("reward.remote_url")}\` or \`${flags.name("train.agent_func_path")}\`: a reward model does not score evaluation, and OpenRLHF refuses it.`;
    return [{ at, message }];
  },
});

export const evaluationData = openrlhfRule({
  id: "openrlhf-evaluation-data",
  severity: "warning",
  title: "Evaluation on training prompts",
  why: "`eval.split` is `train` by default, and so is `data.prompt_split`. If `eval.dataset` names a training dataset, evaluation measures memorised prompts: `prepare_datasets` in openrlhf/trainer/ppo_trainer.py.",
  check(flags) {
    const at = flags.written("eval.dataset");
    const [evaluated, trained] = [flags.text("eval.dataset"), flags.text("data.prompt_dataset")];
    const splits = [flags.text("eval.split"), flags.text("data.prompt_split")];
    if (at === undefined || evaluated === undefined || trained === undefined || splits[0] !== splits[1])
      return [];
    const both = namesIn(evaluated).filter((name) => namesIn(trained).includes(name));
    if (both.length === 0) return [];
    const message = `Evaluation uses \`${both.join(", ")}\`, split \`${splits[0]}\`, which training uses too: its rewards say nothing about new prompts. Set \`${flags.name("eval.split")}\` to another split.`;
    return flags.diagnostic(["eval.dataset", "eval.split", "data.prompt_dataset"], message);
  },
});

const namesIn = (list: string): string[] => list.split(",").map((name) => name.trim());
