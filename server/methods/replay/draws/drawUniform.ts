import { z } from "zod";
import { replayDraw } from "../../../core/declaration.ts";
import { unweighted, withoutReplacement } from "./drawing.ts";

export const drawUniform = replayDraw({
  name: "uniform",
  summary: "Draws all kept rollouts with equal probability, none twice in a batch.",
  sources: [],
  params: z.object({}),
  create: () => (kept, n, random) => unweighted(withoutReplacement([...kept.keys()], n, random)),
});
