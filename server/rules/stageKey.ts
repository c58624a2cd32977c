import type { StageKind } from "../../shared/run/stageKinds.ts";
import { eachStage, keyOf, type Rule } from "./rule.ts";

/** The kinds of stage that read a key. */
const readers: Readonly<Record<string, readonly StageKind[]>> = {
  batch: ["sft", "pretrain", "preference", "reward_model"],
  pairs: ["preference", "reward_model"],
  trains: ["reward_model"],
};

/** A stage's keys are those of its kind. */
export const stageKey: Rule = {
  id: "stage-key",
  title: "Stage key that belongs to another kind",
  why: "`batch` is the number of sequences or pairs in a step that learns from data; an rl step has `rollout.prompts` times `rollout.group` rollouts. `pairs` says where a preference or reward_model stage gets its pairs from, `trains` which model a reward_model stage trains.\n\nRemove the key, or set the stage's `kind`.",
  check: eachStage(({ config, written, path }, { report, edits }) => {
    if (config.kind === "alternate") return;
    for (const [key, kinds] of Object.entries(readers)) {
      const at = keyOf(written, key);
      if (at === undefined || kinds.includes(config.kind)) continue;
      report({
        rule: stageKey.id,
        severity: "warning",
        message: `A stage of kind ${config.kind} has no \`${key}\`: only ${kinds.join(", ")} ${kinds.length === 1 ? "reads" : "read"} it.`,
        key: `${path}.${key}`,
        at,
        tags: ["unnecessary"],
        fileFixes: [edits.remove(["stages", config.name, key], `Remove \`${key}\``, false)],
      });
    }
  }),
};
