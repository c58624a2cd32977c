/** Which part of a config makes a metric what it is: where "go to definition" leads from a metric's name. */
import { child, entry, textOf, type Origin, type SourceNode } from "../../config/text/node.ts";

/** By how a metric's name begins: the first path that somebody wrote. The longest beginning counts. */
const sources: readonly (readonly [beginning: string, ...paths: string[]])[] = [
  ["reward/", "reward.combine", "reward.terms", "reward"],
  ["eval/", "evaluation", "reward.success"],
  ["eval/pass@", "evaluation.pass_at", "evaluation"],
  ["eval/reward/", "reward.terms", "evaluation"],
  ["advantage/", "advantage"],
  ["groups/", "rollout.group", "rollout"],
  ["groups/all_", "reward.success", "rollout.group"],
  ["groups/mixed", "reward.success", "rollout.group"],
  ["groups/zero_advantage", "advantage"],
  ["groups/admitted", "curriculum.admission", "curriculum"],
  ["groups/drawn", "curriculum.admission", "rollout.prompts"],
  ["rollout/", "rollout"],
  ["rollout/length", "rollout.max_tokens", "rollout"],
  ["rollout/truncated", "rollout.max_tokens", "rollout"],
  ["policy/entropy", "objective.entropy", "rollout.temperature", "objective"],
  ["policy/kl/", "kl"],
  ["update/", "update", "objective"],
  ["update/loss", "objective"],
  ["update/clip", "objective"],
  ["update/ratio", "objective"],
  ["update/grad_norm", "update.optimizer", "update"],
  ["update/lr", "update.optimizer.lr", "update.optimizer"],
  ["mismatch/", "objective.correction", "objective"],
  ["curriculum/", "curriculum.sampler", "curriculum"],
  ["learner/", "models"],
  ["tokens/", "rollout.max_tokens", "rollout"],
  ["tokens/trained", "mask", "rollout.max_tokens"],
  ["memory/", "engine.memory", "model"],
  ["replay/", "replay"],
  ["loss/", "objective"],
  ["auxiliary/", "auxiliary"],
  ["privacy/", "update.optimizer"],
];

/** `merged` without the defaults: every origin in it is a file's. */
export function metricPlace(metric: string, merged: SourceNode): Origin | undefined {
  const divergence = /^policy\/kl\/([^/]+)/.exec(metric)?.[1];
  const estimated = /^curriculum\/.+\/estimate$/.test(metric) ? ["curriculum.estimator"] : [];
  const [, ...paths] = sources
    .filter(([beginning]) => metric.startsWith(beginning))
    .sort(([a], [b]) => b.length - a.length)[0] ?? [""];
  const own = divergence === undefined ? undefined : klEntry(merged, divergence);
  return (
    own ??
    [...estimated, ...paths].map((path) => keyAt(merged, path.split("."))).find((at) => at !== undefined)
  );
}

function keyAt(root: SourceNode, path: readonly string[]): Origin | undefined {
  const holder = path.slice(0, -1).reduce<SourceNode | undefined>(child, root);
  return entry(holder, path.at(-1) ?? "")?.key;
}

function klEntry(root: SourceNode, model: string): Origin | undefined {
  const list = child(root, "kl");
  if (list?.kind !== "list") return undefined;
  return list.items.find((item) => (textOf(child(item, "model")) ?? "reference") === model)?.origin;
}
