import { isOwn, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** The warm-up ends before the run does. */
export const lateWarmup: Rule = {
  id: "late-warmup",
  title: "Warm-up longer than training",
  why: "The learning rate rises from 0 over the first `warmup` optimiser steps. If the run has no more steps than that, it never trains at the rate in the config, and its last rate depends on the run's length.\n\nA tenth of the updates is already a long warm-up: shorten it, or train longer.",
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
      reportAt(model, view, lateWarmup, [path], {
        severity: "warning",
        message: `The warm-up takes ${warmup} optimiser steps, but the run has only ${updates} (${updates / perStep} steps × ${perStep}), so it never reaches the learning rate.`,
        fileFixes: [
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
