import type { StageBody } from "../../core/config/resolved.ts";
import { byHarness, hasAttempts } from "../../core/config/shapeFacts.ts";
import { eachRlStage, isOwn, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

type SettingPath = readonly string[];

/** Where a stage's body speaks of turns. */
function* turnsNamed(body: StageBody): Generator<SettingPath> {
  if (body.advantage.level === "turn") yield ["advantage", "level"];
  for (const [index, { declaration }] of body.mask.entries())
    if (declaration.name === "turns") yield ["mask", String(index)];
  for (const [index, { turns }] of body.kl.entries())
    if (turns !== undefined) yield ["kl", String(index), "turns"];
  const { loss, value, also } = body.objective;
  if (loss.params["level"] === "turn") yield ["objective", "level"];
  if (value?.loss.params["level"] === "turn") yield ["objective", "value", "level"];
  for (const [index, one] of also.entries())
    if (one.loss.params["level"] === "turn") yield ["objective", "also", String(index), "level"];
  for (const { name, attempts } of body.reward.terms)
    if (attempts !== "last") yield ["reward", "terms", name, "attempts"];
  yield ["reward", "attempts"];
  for (const [index, { loss: learner }] of body.auxiliary.entries())
    if (learner.params["each"] === "turn") yield ["auxiliary", String(index), "each"];
}

/** What is said of turns does something only where responses have several. */
export const oneTurn: Rule = {
  id: "one-turn",
  title: "Turns in rollouts of a single turn",
  why: "Masks, advantages, divergences and losses by turn read the turns of rollouts. With `rollout.shape: single`, the default, a rollout has a single turn, the whole response, so the setting changes nothing. Recorded conversations have turns: `gradus explain` and `replay: { use: file }` read them.\n\nChoose `rollout.shape: multi_attempt`, `self_correct` or `environment`, keep the setting for recorded rollouts, or cut responses into parts with `rollout.steps` and write `step`.",
  check: eachRlStage((view, model) => {
    const { body } = view.config;
    if (
      body.replay.source.declaration.name === "file" ||
      hasAttempts(body.rollout) ||
      byHarness(body.rollout)
    )
      return;
    for (const path of turnsNamed(body)) {
      if (!isOwn(placeOf(view.body, ...path))) continue;
      reportAt(model, view, oneTurn, [path], {
        severity: "info",
        message: `Every rollout is a single turn, so \`${path.filter((key) => !/^\d+$/.test(key)).join(".")}\` takes the whole response as its first turn.`,
        tags: ["unnecessary"],
        fileFixes: [
          model.edits.remove(
            pathIn(view, placeOf(view.body, ...path), ...path),
            `Remove \`${path.at(-1)}\``,
            false,
          ),
        ],
      });
    }
  }),
};
