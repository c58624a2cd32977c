/** What is saved, logged and measured. */
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import type { OpenRlhfDraft } from "./draft.ts";

export function saving({ checkpoint, evaluation, seed, engine }: RunConfig, draft: OpenRlhfDraft): void {
  draft.set("train.seed", seed);
  draft.set("ckpt.save_steps", checkpoint.every);
  draft.set("ckpt.max_num", checkpoint.keep);
  // Else the best of an evaluation is kept as well.
  draft.set("ckpt.best_metric_key", "none");
  draft.set("eval.steps", evaluation.every);
  draft.set("eval.temperature", evaluation.temperature);
  const samples = Math.max(...evaluation.pass_at);
  draft.set("eval.n_samples_per_prompt", samples);
  const known = new Set([1, samples]);
  if (engine.args?.["eval.steps"] === undefined && evaluation.pass_at.some((k) => !known.has(k)))
    draft.miss(
      "evaluation.pass_at",
      evaluation.pass_at,
      `OpenRLHF answers each held-out task ${samples} times, and gives pass@1 and pass@${samples} alone.`,
      "nothing-trained",
    );
  draft.miss(
    "evaluation",
    `every ${evaluation.every} steps`,
    "OpenRLHF does not evaluate before its first step, and gives no greedy answers.",
    "nothing-trained",
  );
  draft.miss(
    "engine",
    "out/stop",
    "OpenRLHF cannot be asked to stop after a step: SIGTERM ends it at once, and `sh launch.sh --resume` goes on from the last checkpoint.",
    "nothing-trained",
  );
}
