import { type SourceNode } from "../../config/text/node.ts";
import { isOwn, keyOf, type Rule } from "../rule.ts";

/** Adds every text in a tree; what was looked through before has been. */
function addTexts(node: SourceNode, texts: Set<unknown>, seen: Set<SourceNode>): void {
  if (node.kind === "scalar") texts.add(node.value);
  if (node.kind === "scalar" || seen.has(node)) return;
  seen.add(node);
  if (node.kind === "list") for (const item of node.items) addTexts(item, texts, seen);
  else for (const { value } of node.entries.values()) addTexts(value, texts, seen);
}

/** Each model other than the policy is named by something. */
export const unusedModel: Rule = {
  id: "unused-model",
  title: "Model that nothing names",
  why: "A model of `models` is opened when the run begins and held in memory until it ends. If no KL entry, objective, reward term, baseline or other model names it, it does nothing.\n\nName it where it is meant to be used, for instance `kl: [{ model: teacher }]`, or remove it.",
  check({ config, root, stages, report, edits }) {
    if (config.models.length === 0) return;
    const [named, seen] = [new Set<unknown>(), new Set<SourceNode>()];
    for (const tree of [root, ...stages.map(({ body }) => body)]) addTexts(tree, named, seen);
    for (const { name } of config.models) {
      const at = keyOf(root, "models", name);
      if (!isOwn(at) || named.has(name) || name === "reference" || name === "previous") continue;
      report({
        rule: unusedModel.id,
        severity: "warning",
        message: `Nothing names the model \`${name}\`: it is opened and held in memory, but never used.`,
        key: `models.${name}`,
        at,
        tags: ["unnecessary"],
        fileFixes: [edits.remove(["models", name], `Remove the model \`${name}\``, false)],
      });
    }
  },
};
