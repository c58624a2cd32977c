import { scheduledRange } from "../ranges.ts";
import type { StageView } from "../../config/check/model.ts";
import { eachRlStage, isOwn, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

interface Idle {
  readonly path: readonly string[];
  readonly why: string;
}

/** What keeps a stage from ever replaying anything. */
function idle({ config: { body, steps } }: StageView, capped: boolean): Idle | undefined {
  const { source, share, weight, every, place } = body.replay;
  const zero = (value: typeof share): boolean => scheduledRange(value).every((end) => end === 0);
  if (place !== "alone" && zero(share))
    return { path: ["replay", "share"], why: "its share of the batch is 0 throughout" };
  if (zero(weight)) return { path: ["replay", "weight"], why: "its rollouts weigh 0 in the loss" };
  if (!capped && every > steps)
    return {
      path: ["replay", "every"],
      why: `it acts every ${every} steps, and the stage has only ${steps}`,
    };
  const written = body.rollout.prompts * body.rollout.group * steps;
  const { capacity, burst } = source.params;
  if (burst === true && typeof capacity === "number" && capacity > written && !capped)
    return {
      path: ["replay", "capacity"],
      why: `it waits until ${capacity} rollouts are kept, and the stage generates at most ${written}`,
    };
  return undefined;
}

/** What is kept comes back at some step. */
export const idleReplay: Rule = {
  id: "idle-replay",
  title: "Replay that never acts",
  why: "Replay keeps rollouts of earlier steps, in memory and in each checkpoint. With a share or a weight of 0, with an interval longer than the stage, or with a buffer that replays only when full and never fills, none of them is ever trained on.\n\nLower the bound that prevents it, or remove the block.",
  check: eachRlStage((view, model) => {
    const { body } = view.config;
    if (body.replay.source.declaration.name === "none") return;
    const found = idle(view, model.capped);
    if (found === undefined || !isOwn(placeOf(view.body, ...found.path))) return;
    reportAt(model, view, idleReplay, [found.path], {
      severity: "warning",
      message: `Nothing is ever replayed: ${found.why}.`,
      fileFixes: [
        model.edits.remove(
          pathIn(view, placeOf(view.body, ...found.path), ...found.path),
          `Remove \`${found.path.join(".")}\`: its default replays`,
          false,
        ),
      ],
    });
  }),
};
