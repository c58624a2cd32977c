import { z } from "zod";
import { template } from "../../../core/references.ts";
import { taskSource, param } from "../../../core/declaration.ts";
import { fill } from "../../../core/templates.ts";
import { drawing, isShade, rastered, type Shape } from "../../../lib/texts/drawing.ts";
import type { Random } from "../../../lib/random.ts";
import type { Task } from "../../../core/task.ts";
import { generated, wholeKnob } from "../generated.ts";

const params = z.object({
  shapes: param(
    z.array(z.number().int().min(1).max(12)).min(1).default([1, 2, 4]),
    "Shapes of a picture: the difficulties, one arm each.",
  ),
  side: param(z.number().int().min(4).max(32).default(8), "Pixels along a side."),
  kinds: param(
    z
      .array(z.enum(["rect", "circle", "line"]))
      .min(1)
      .default(["rect", "circle", "line"]),
    "Which shapes there are.",
  ),
  shades: param(
    z.array(z.string().refine(isShade)).min(1).default(["9"]),
    "Shades of shapes, 1 (faint) to 9 (full).",
  ),
  prompt: param(
    template("picture", "side").default("{picture}\n"),
    "Template of the prompt: `{picture}` (a digit a pixel, a line a row), `{side}`.",
  ),
});
type Params = z.output<typeof params>;

const between = (low: number, high: number, random: Random): number => low + random.integer(high - low + 1);

function shapeOf(kind: Shape["kind"], side: number, shade: number, random: Random): Shape {
  const [x, y] = [random.integer(side), random.integer(side)];
  if (kind === "circle") return { kind, x, y, r: between(1, Math.max(1, side >> 2), random), shade };
  if (kind === "line") return { kind, x, y, toX: random.integer(side), toY: random.integer(side), shade };
  return { kind, x, y, width: between(1, side - x, random), height: between(1, side - y, random), shade };
}

function make(name: string, chosen: Params, count: number, random: Random): Task | null {
  const { side, kinds, shades } = chosen;
  const shapes = Array.from({ length: count }, () =>
    shapeOf(
      kinds[random.integer(kinds.length)]!,
      side,
      Number(shades[random.integer(shades.length)]!),
      random,
    ),
  );
  const pixels = rastered(shapes, side);
  const picture = Array.from({ length: side }, (_, row) =>
    Array.from(pixels.subarray(row * side, (row + 1) * side), (pixel) => Math.round(pixel * 9)).join(""),
  ).join("\n");
  // A blank or an even picture says nothing of what drew it.
  if (new Set(picture.replaceAll("\n", "")).size < 2) return null;
  const code = drawing(shapes);
  return {
    id: `render:${side}:${picture.replaceAll("\n", "/")}`,
    source: name,
    env: "render",
    prompt: fill(chosen.prompt, { picture, side: String(side) }),
    answer: code,
    data: { side, picture, shapes: count },
    solution: code,
  };
}

export const render = taskSource({
  name: "render",
  summary:
    "Draw a picture again as a small drawing of rectangles, circles and lines. The reward term of the same name renders the drawing and compares.",
  sources: ["Rendering-Aware Reinforcement Learning for Vector Graphics Generation"],
  params,
  create: (chosen, context) => {
    const name = context.name ?? "render";
    return generated({
      env: "render",
      name,
      values: [...new Set(chosen.shapes)].map(String),
      make: (value, random) => make(name, chosen, Number(value), random),
      box: [wholeKnob("shapes", [1], 12), wholeKnob("side", [4], 32)],
      makeAt: ({ shapes = 1, side = chosen.side }, random) => make(name, { ...chosen, side }, shapes, random),
      range: [1, 12],
      valueOf: ({ data }) => (typeof data["shapes"] === "number" ? String(data["shapes"]) : undefined),
    });
  },
});
