import { weightsOfBase } from "../../config/baseFacts.ts";
import type { ConfigModel } from "../../config/check/model.ts";
import { isOwn, placeOf, reportAt, type Rule } from "../rule.ts";

interface LearningRateRange {
  readonly what: string;
  /** As published recipes have it. */
  readonly usual: readonly [number, number];
  /** Beyond these it is surely not meant. */
  readonly far: readonly [number, number];
}

/** Also a checkpoint of such a model: rates have to do with how large a model is. */
const isTiny = (base: string): boolean =>
  base === "tiny" || (weightsOfBase(base) ?? Number.POSITIVE_INFINITY) < 2e7;

function bandOf({ config: { model } }: ConfigModel): LearningRateRange {
  if (model.adapter !== undefined)
    return { what: "a low-rank adapter", usual: [1e-5, 2e-4], far: [1e-7, 5e-3] };
  if (model.base === "tiny")
    return { what: "a tiny model with random weights", usual: [1e-4, 5e-3], far: [2e-6, 0.1] };
  if (isTiny(model.base))
    return { what: "a model of less than 20 million weights", usual: [1e-5, 5e-3], far: [1e-7, 0.1] };
  return { what: "all weights of a trained model", usual: [1e-6, 5e-6], far: [1e-8, 2e-4] };
}

/** A learning rate is within sight of what the method is used with. */
export const learningRateBand: Rule = {
  id: "learning-rate",
  title: "Learning rate far from the usual",
  why: "Adam's steps have the size of the learning rate, whatever the size of the gradient, so recipes agree on a band: 1e-6 to 5e-6 for all weights of a trained model, 1e-5 to 2e-4 for a low-rank adapter, whose few weights have to move far, and more for a model of a few million weights or with random weights. This is a convention, not a law. Only rates at least ten times outside the band are reported: below it the run learns nothing in its length, above it the policy collapses within a few steps.",
  check(model) {
    const band = bandOf(model);
    for (const view of model.stages) {
      const { optimizer } = view.config.body.update;
      const path = ["update", "optimizer", "lr"];
      const { lr } = optimizer.params;
      if (view.config.kind !== "rl" || typeof lr !== "number" || lr === 0) continue;
      if (optimizer.declaration.name !== "adamw" || !isOwn(placeOf(view.body, ...path))) continue;
      const [least, most] = band.far;
      if (lr >= least && lr <= most) continue;
      const [from, to] = band.usual;
      const factor = lr < from ? from / lr : lr / to;
      reportAt(model, view, learningRateBand, [path], {
        // A tiny model is for trying things out.
        severity: isTiny(model.config.model.base) ? "info" : "warning",
        message: `\`lr: ${text(lr)}\` is ${Math.round(factor)} times ${lr < from ? "below" : "above"} the usual range for ${band.what}, ${text(from)} to ${text(to)}.`,
        fileFixes:
          model.stages.length > 1
            ? []
            : [
                model.edits.set(
                  path,
                  text(lr < from ? from : to),
                  `Change to ${text(lr < from ? from : to)}`,
                  false,
                ),
              ],
      });
    }
  },
};

/** With a point, as YAML wants it: 1.0e-6. */
const text = (value: number): string => {
  const [digits = "", exponent] = value.toExponential().split("e");
  if (value >= 1e-3 && value < 1e3) return String(value);
  return `${digits.includes(".") ? digits : `${digits}.0`}e${exponent?.replace("+", "") ?? "0"}`;
};
