/** `model:` is short for `models.policy`: whichever is written, the rest of the program reads `model`. */
import { grammar } from "./grammar/grammar.ts";
import { merge, type MergeProblem } from "./merge.ts";
import { child, entry, withEntry, withoutEntry, type MapNode } from "./text/node.ts";

/** Moves `models.policy` over `model`; where both say something, `models.policy` wins. */
export function withPolicyModel(root: MapNode, report: (problem: MergeProblem) => void): MapNode {
  const models = child(root, "models");
  const policy = entry(models, "policy");
  const shape = grammar.fields["model"]?.shape;
  if (models?.kind !== "map" || policy === undefined || shape === undefined) return root;
  const short = child(root, "model");
  const base = short === undefined ? undefined : merge(undefined, short, shape, report, "model");
  const model = merge(base, policy.value, shape, report, "models.policy");
  return withEntry(
    withEntry(root, "models", withoutEntry(models, "policy"), entry(root, "models")?.key),
    "model",
    model,
    policy.key,
  );
}
