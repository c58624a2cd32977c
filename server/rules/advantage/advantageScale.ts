import { firstTime, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** Baselines whose advantages are differences of values, token by token: a spread of rewards says nothing of them. */
const ofValues = new Set(["critic", "turn_critic", "monte_carlo", "tree_siblings", "optimal_token_baseline"]);
/** They divide what they compare by its spread themselves. */
const scaled = new Set(["turn_progress"]);

const messageOf = (baseline: string, scale: string): string =>
  scaled.has(baseline)
    ? `\`${baseline}\` divides by the spread of the group's rewards itself, and \`${scale}\` would divide again: write \`advantage.scale: none\`.`
    : `\`${scale}\` divides by a spread of rewards, but \`${baseline}\` gives differences of values: write \`advantage.scale: none\`, and \`whiten: tokens\` to standardise them.`;

export const advantageScale: Rule = {
  id: "advantage-scale",
  title: "Reward scale on a value baseline",
  why: "`group_std` and similar scales divide an advantage by the spread of the group's rewards. A baseline that learns values (`critic`, `turn_critic`, `monte_carlo`, `tree_siblings`, `optimal_token_baseline`) gives differences of values, token by token, and their size is unrelated to that spread.\n\nPPO standardises such advantages over the batch instead (Schulman et al., Proximal Policy Optimization Algorithms): `advantage: { scale: none, whiten: tokens }`. `turn_progress` has divided already.",
  check(model) {
    const fresh = firstTime();
    for (const view of model.stages) {
      const { baseline, scale } = view.config.body.advantage;
      if (view.config.kind !== "rl" || !fresh(view.config.body.advantage)) continue;
      const [from, by] = [baseline.declaration.name, scale.declaration.name];
      if (!(ofValues.has(from) || scaled.has(from)) || !by.endsWith("_std")) continue;
      const path = pathIn(view, placeOf(view.body, "advantage", "scale"), "advantage", "scale");
      reportAt(
        model,
        view,
        advantageScale,
        [
          ["advantage", "scale"],
          ["advantage", "baseline"],
        ],
        {
          key: "advantage.scale",
          severity: "warning",
          message: messageOf(from, by),
          fileFixes: [model.edits.set(path, "none", "Change to `scale: none`")],
        },
      );
    }
  },
};
