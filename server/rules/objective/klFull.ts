import { comparesWhole } from "../../core/config/klFacts.ts";
import { join } from "../../config/text/node.ts";
import { eachStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** A divergence over the whole vocabulary is a part of the loss, and needs a model that can be asked for it. */
export const klFull: Rule = {
  id: "kl-full",
  title: "Full divergence where it cannot be computed",
  why: "The estimators `full` and `jsd` sum over the whole vocabulary. They are differentiated as part of the loss, so they cannot be a penalty in the reward. They also need the other model's whole distribution, but for `behaviour`, `proximal` and `previous` only the log-probs of the sampled tokens are kept.\n\nk1, k2 and k3 need only those (Schulman, Approximating KL Divergence).",
  check: eachStage((view, model) => {
    for (const [index, entry] of view.config.body.kl.entries()) {
      if (!comparesWhole(entry)) continue;
      const { place, model: other } = entry;
      const stored = ["behaviour", "proximal", "previous"].includes(other);
      if (place === "loss" && !stored) continue;
      const path = ["kl", String(index)];
      const origin = placeOf(view.body, ...path);
      const key = place === "reward" ? "place" : "model";
      reportAt(model, view, klFull, [[...path, key], path], {
        key: join(`kl.${index}`, key),
        message:
          place === "reward"
            ? "The full divergence can only be part of the loss: write `place: loss`, or the estimator k1, k2 or k3."
            : `Only the log-probs of sampled tokens are known for \`${other}\`: choose the estimator k1, k2 or k3, or another model.`,
        fileFixes: [
          place === "reward" && !stored
            ? model.edits.set(pathIn(view, origin, "kl", index, "place"), "loss", "Change to `place: loss`")
            : undefined,
          model.edits.set(
            pathIn(view, origin, "kl", index, "estimator"),
            "k3",
            "Change to `estimator: k3`",
            place !== "reward" || stored,
          ),
        ],
      });
    }
  }),
};
