import { pathIn, placeOf, tell, isOwn, type Rule } from "../rule.ts";

/** The warm-up ends before the run does. */
export const lateWarmup: Rule = {
  id: "late-warmup",
  title: "Warm-up longer than the training",
  why: "The learning rate rises from 0 over the first `warmup` optimiser steps. Where these are all there are, the run never trains at the rate that the config states, and the rate at its end depends on how long it was.\n\nA tenth of the updates is much for a warm-up; shorten it, or train longer.",
  check(model) {
    if (model.capped) return;
    for (const view of model.stages) {
      const { kind, steps, body } = view.config;
      const { rollout, update, replay } = body;
      const path = ["update", "optimizer", "warmup"];
      const { warmup } = update.optimizer.params;
      if (kind !== "rl" || typeof warmup !== "number" || !isOwn(placeOf(view.body, ...path))) continue;
      const all = rollout.prompts * rollout.group;
      const perStep = Math.ceil(all / (update.mini_batch ?? all)) * update.epochs * replay.updates;
      const updates =
        perStep * (placeOf(view.body, ...path)?.stage === undefined ? totalSteps(model.stages) : steps);
      if (warmup < updates || replay.source.declaration.name !== "none") continue;
      const tenth = Math.max(1, Math.floor(updates / 10));
      tell(model, view, lateWarmup, [path], {
        severity: "warning",
        message: `The warm-up takes ${warmup} optimiser steps, and there are ${updates} (${updates / perStep} steps of the run × ${perStep}): the learning rate is never reached.`,
        mends: [
          model.edits.set(
            pathIn(view, placeOf(view.body, ...path), ...path),
            String(tenth),
            `Change to ${tenth} (a tenth of ${updates} updates)`,
          ),
        ],
      });
    }
  },
};

const totalSteps = (stages: Parameters<Rule["check"]>[0]["stages"]): number =>
  stages.reduce((sum, { config }) => sum + (config.kind === "rl" ? config.steps : 0), 0);
