/** What a model learns that writes tasks: its objective, further losses, and a penalty on its distance from another model. */
import { create } from "../../core/create.ts";
import type { AuxiliaryConfig } from "../../core/config/resolved.ts";
import type { Model } from "../../core/basics.ts";
import type { CreateContext } from "../../core/declaration.ts";
import type { Objective } from "../../core/loss.ts";
import type { Auxiliary } from "../../core/slots/auxiliary.ts";
import { k3 } from "../../methods/kl/k3.ts";
import { column } from "../../methods/objective/column.ts";
import { clipped } from "../../methods/objective/surrogates/clipped.ts";
import { mixed } from "./objective.ts";

type AuthorLoss = Extract<Auxiliary, { kind: "author" }>;

/** Σ factor · k3 over the tokens that train. */
function distanceFrom(model: Model, context: CreateContext): Objective {
  const { value, slope } = k3.create(k3.params.parse({}), { ...context, folder: "" });
  return {
    channels: ["logp"],
    unit: "sequence",
    models: [model],
    loss({ now, old, factors }) {
      const own = column(now, "logp", "the author's KL penalty");
      const other = column(old, `logp:${model}`, "the author's KL penalty");
      const gradient = new Float64Array(own.length);
      let loss = 0;
      factors.forEach((factor, t) => {
        if (factor === 0) return;
        loss += factor * value(own[t]!, other[t]!);
        gradient[t] = factor * slope(own[t]!, other[t]!);
      });
      return { loss, gradients: { logp: gradient }, metrics: { kl: loss } };
    },
  };
}

/** The config's objective, by default PPO's clipped one, with the losses beside it. */
export function authorObjective(
  { objective, also }: Pick<AuxiliaryConfig, "objective" | "also">,
  { kl }: Pick<AuthorLoss, "kl">,
  context: CreateContext,
): Objective {
  const main =
    objective === undefined
      ? clipped.create(clipped.params.parse({}), { ...context, folder: "" })
      : create(objective, context);
  const beside = also.map(({ loss, factor }) => ({ loss: create(loss, context), factor }));
  const held = kl === undefined ? [] : [{ loss: distanceFrom(kl.model, context), factor: kl.coefficient }];
  if (beside.length + held.length === 0) return main;
  return mixed([{ loss: main, factor: 1 }, ...beside, ...held]);
}
