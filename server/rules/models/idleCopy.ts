import { lacksOptimizer } from "./models.ts";
import type { ConfigModel } from "../../config/check/model.ts";
import { isOwn, keyOf, type Rule } from "../rule.ts";

/** Why a copy never differs from what it was at the beginning, or never from its original. */
function whyIdle(model: ConfigModel, of: string, every: number): string | undefined {
  const { config } = model;
  if (lacksOptimizer(model, of)) return undefined;
  const updates = updatesOf(config);
  if (of === "policy")
    return updates < every
      ? `it is updated after ${every} updates of the original, and the run has only ${updates}`
      : undefined;
  const original = config.models.find(({ name }) => name === of);
  return original?.kind !== "copy" && original !== undefined && original.optimizer === undefined
    ? `\`${of}\` is frozen, so its copy always equals it`
    : undefined;
}

/** The most optimiser steps that the run takes. */
const updatesOf = ({ stages }: ConfigModel["config"]): number =>
  stages.reduce((sum, { kind, steps, body: { rollout, update, replay } }) => {
    const all = rollout.prompts * rollout.group;
    const perStep = Math.ceil(all / (update.mini_batch ?? all)) * update.epochs * replay.updates;
    return sum + (kind === "rl" ? steps * perStep : 0);
  }, 0);

/** A copy that follows its original follows something that moves, in the run's length. */
export const idleCopy: Rule = {
  id: "idle-copy",
  title: "Copy of a model that never changes",
  why: "`ema` and `polyak` copies follow another model slowly: copy ← decay · copy + (1 − decay) · model, every `every` updates. If the original is frozen, or the run ends before the copy is first updated, the copy is a second, constant model in memory, and a divergence from it does not do what was meant.\n\nCopy a model that trains, and update the copy within the run's length.",
  check(model) {
    const { config, root, report } = model;
    for (const one of config.models) {
      if (one.kind !== "copy") continue;
      const at = keyOf(root, "models", one.name);
      const why = whyIdle(model, one.of, one.every);
      if (why === undefined || !isOwn(at) || (model.capped && why.includes("updates, and"))) continue;
      report({
        rule: idleCopy.id,
        severity: "warning",
        message: `The copy \`${one.name}\` never changes: ${why}.`,
        key: `models.${one.name}`,
        at,
        fileFixes: one.of === "policy" ? [sooner(model, one.name)] : [],
      });
    }
  },
};

/** Renewed ten times in the run. */
function sooner({ config, edits }: ConfigModel, name: string): ReturnType<ConfigModel["edits"]["set"]> {
  const updates = updatesOf(config);
  const every = Math.max(1, Math.floor(updates / 10));
  return edits.set(
    ["models", name, "polyak", "every"],
    String(every),
    `Change \`every\` to ${every} (a tenth of ${updates} updates)`,
  );
}
