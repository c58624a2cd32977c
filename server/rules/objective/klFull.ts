import { join } from "../../config/text/node.ts";
import { at as nodeAt, mine, pathIn, underneath, type Rule } from "../rule.ts";

/** A divergence over the whole vocabulary is a part of the loss, and needs a model that can be asked for it. */
export const klFull: Rule = {
  id: "kl-full",
  title: "Full divergence where it cannot be computed",
  why: "The estimator `full` sums over the whole vocabulary. It is differentiated as part of the loss, so it cannot be a penalty in the reward. It also needs the other model's whole distribution, but for `behaviour`, `proximal` and `previous` only the log-probs of the sampled tokens are kept.\n\nk1, k2 and k3 need only those (Schulman, Approximating KL Divergence).",
  check({ stages, file, root, report, edits }) {
    for (const view of stages) {
      const list = nodeAt(view.body, "kl");
      for (const [index, { estimator, place, model }] of view.config.body.kl.entries()) {
        if (estimator.declaration.name !== "full") continue;
        const stored = ["behaviour", "proximal", "previous"].includes(model);
        if (place === "loss" && !stored) continue;
        const item = list?.kind === "list" ? list.items[index] : undefined;
        const key = place === "reward" ? "place" : "model";
        const at = mine(file, nodeAt(item, key)?.origin, item?.origin) ?? root.origin;
        report({
          rule: klFull.id,
          message:
            place === "reward"
              ? "The full divergence can only be part of the loss: write `place: loss`, or the estimator k1, k2 or k3."
              : `Only the log-probs of sampled tokens are known for \`${model}\`: choose the estimator k1, k2 or k3, or another model.`,
          key: underneath(view, at, join(`kl.${index}`, key)),
          at,
          fileFixes: [
            place === "reward" && !stored
              ? edits.set(pathIn(view, item?.origin, "kl", index, "place"), "loss", "Change to `place: loss`")
              : undefined,
            edits.set(
              pathIn(view, item?.origin, "kl", index, "estimator"),
              "k3",
              "Change to `estimator: k3`",
              place !== "reward" || stored,
            ),
          ],
        });
      }
    }
  },
};
