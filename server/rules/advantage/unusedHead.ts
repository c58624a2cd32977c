import { headsRead, headsTrained, ownerOf } from "./heads.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { isOwn, keyOf, type Rule } from "../rule.ts";

/** Each head of the policy is read or trained by something. */
export const unusedHead: Rule = {
  id: "unused-head",
  title: "Value head that nothing uses",
  why: "`model.value_heads` gives the policy linear maps from its last hidden state to a number per token. A head that no loss trains and no baseline reads is initialised and saved with every checkpoint, but has no effect. It is usually left over from another `advantage`.\n\nRemove it, or name it in `objective.value` and in the baseline.",
  check({ config, stages, root, report, edits }) {
    const at = keyOf(root, "model", "value_heads");
    if (!isOwn(at)) return;
    const used = new Set(
      stages.flatMap(({ config: { kind, body } }) => [
        ...(kind === "rl" ? headsTrained(body) : []),
        ...(ownerOf(body.advantage) === "policy" ? headsRead(body.advantage) : []),
      ]),
    );
    // A reward term, a mask or a weight may name a head among its parameters.
    const named = JSON.stringify([...new Set(stages.flatMap(({ config: { body } }) => parameters(body)))]);
    const unused = (config.model.heads ?? []).filter(
      ({ name }) => !used.has(name) && !named.includes(`"${name}"`) && !named.includes(`"head:${name}"`),
    );
    if (unused.length === 0) return;
    report({
      rule: unusedHead.id,
      severity: "warning",
      message: `Nothing trains or reads the value head ${unused.map(({ name }) => `\`${name}\``).join(", ")}.`,
      key: "model.value_heads",
      at,
      tags: ["unnecessary"],
      fileFixes:
        unused.length < (config.model.heads ?? []).length
          ? []
          : [edits.remove(["model", "value_heads"], "Remove `value_heads`", false)],
    });
  },
};

const parameters = (body: StageBody): object[] => [
  ...body.reward.terms.map(({ term }) => term.params),
  ...body.mask.map(({ params }) => params),
  ...body.advantage.token_weights.map(({ params }) => params),
  ...body.auxiliary.flatMap(({ loss, objective }) => [
    loss.params,
    ...(objective === undefined ? [] : [objective.params]),
  ]),
  ...body.objective.also.map(({ loss }) => loss.params),
  body.objective.loss.params,
];
