import { z } from "zod";
import { scale } from "../../../core/declaration.ts";

export const zero = scale({
  name: "zero",
  summary:
    "The control of an experiment: every advantage is 0, so nothing is learned from rewards; everything else runs as usual.",
  formula: "A = 0",
  sources: [],
  params: z.object({}),
  create: () => (centred) => centred.map((value) => (Number.isNaN(value) ? value : 0)),
});
