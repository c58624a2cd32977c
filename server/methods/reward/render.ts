import { z } from "zod";
import { rewardTerm, param } from "../../core/declaration.ts";
import { rastered, shapesOf } from "../../lib/texts/drawing.ts";
import type { RolloutRecord } from "../../core/rollouts.ts";
import type { TermValue } from "../../core/slots/reward.ts";
import { failure, perRow } from "./perRow.ts";

const params = z.object({
  length: param(
    z.number().min(0).default(0),
    "Weight of 1 − (max(0, L − L*/2)/L*)², with L characters of the drawing and L* of the answer's.",
  ),
  unreadable: param(z.number().default(-1), "Reward of a response that is no drawing."),
});
type Params = z.output<typeof params>;

function judge({ task, response }: RolloutRecord, { length, unreadable }: Params): TermValue {
  const { side, picture } = task.data;
  if (typeof side !== "number" || typeof picture !== "string" || task.answer === undefined)
    return failure(`render needs \`side\`, \`picture\` and an answer, which task ${task.id} lacks`);
  const shapes = shapesOf(response);
  if (shapes === null) return { kind: "value", value: unreadable };
  const drawn = rastered(shapes, side);
  const wanted = [...picture.replaceAll("\n", "")].map((digit) => Number(digit) / 9);
  const apart = drawn.reduce((sum, pixel, at) => sum + (pixel - (wanted[at] ?? 0)) ** 2, 0);
  // Normalised by the picture's mean and standard deviation: the mean falls out of the difference.
  const mean = wanted.reduce((sum, pixel) => sum + pixel, 0) / wanted.length;
  const spread = wanted.reduce((sum, pixel) => sum + (pixel - mean) ** 2, 0);
  const image = Math.min(1, Math.max(-1, 1 - apart / spread));
  const beyond = Math.max(0, response.trim().length - task.answer.length / 2) / task.answer.length;
  const short = 1 - beyond ** 2;
  return { kind: "value", value: image + length * short, components: { image, length: short } };
}

export const render = rewardTerm({
  name: "render",
  summary:
    "How near the pixels of a drawing are to the task's picture, and how short the drawing is. For the environment `render`.",
  formula:
    "r = clip(1 − ‖I − I*‖²/N, −1, 1) + w·(1 − (max(0, L − L*/2)/L*)²), pixels normalised by the picture's mean and standard deviation",
  sources: ["Rendering-Aware Reinforcement Learning for Vector Graphics Generation"],
  status: "approximate",
  judges: "answer",
  computes: () => true,
  params,
  create: (chosen) => perRow((record) => judge(record, chosen)),
});
