import { headsOf, headsRead, headsTrained, ownerOf } from "./heads.ts";
import { pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** A critic learns what it is asked for. */
export const untrainedHead: Rule = {
  id: "untrained-head",
  title: "Critic that nothing trains",
  why: "A value head starts by predicting 0. Until a loss trains it, a baseline that reads it subtracts nothing: the advantages are those of `baseline: none`, with all their variance. In PPO the value loss belongs to the objective (Schulman et al., Proximal Policy Optimization Algorithms, equation 9).\n\nGive the objective a `value`, in this stage or an earlier one, or choose a baseline that needs no critic.",
  check(model) {
    const learning = model.config.models.flatMap((one) =>
      one.kind === "opened" && one.optimizer !== undefined ? [one.name] : [],
    );
    const trained = new Set<string>();
    for (const view of model.stages) {
      if (view.config.kind !== "rl") continue;
      const { body } = view.config;
      for (const model of ["policy", ...learning])
        for (const head of headsTrained(body, model)) trained.add(`${model}/${head}`);
      const owner = ownerOf(body.advantage);
      const missing = headsRead(body.advantage).filter((head) => !trained.has(`${owner}/${head}`));
      const [head] = missing;
      if (head === undefined || !["policy", ...learning].includes(owner)) continue;
      // Another rule reports a head that the model lacks.
      const own = headsOf(model.config, owner) ?? [];
      if (!missing.every((one) => own.includes(one))) continue;
      const named = missing.map((one) => `\`${one}\``).join(", ");
      const several = body.advantage.baseline.declaration.name === "turn_critic";
      reportAt(model, view, untrainedHead, [["advantage", "baseline"], ["objective"]], {
        severity: "warning",
        message: `\`${body.advantage.baseline.declaration.name}\` reads ${named}, which no loss of this stage or an earlier one trains. It stays at 0, and so does the baseline: add ${owner === "policy" ? "`objective.value`" : "a learner to `auxiliary`"}.`,
        related: [{ at: placeOf(view.body, "objective"), message: "the objective has no value loss" }],
        fileFixes:
          several || owner !== "policy"
            ? []
            : [
                model.edits.set(
                  pathIn(view, placeOf(view.body, "objective"), "objective", "value"),
                  `{ use: value_clipped, head: ${head}, coefficient: 0.5 }`,
                  "Add the clipped value loss to the objective",
                ),
              ],
      });
    }
  },
};
