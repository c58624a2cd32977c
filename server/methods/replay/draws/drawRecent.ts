import { z } from "zod";
import { replayDraw } from "../../../core/declaration.ts";
import { unweighted } from "./drawing.ts";

export const drawRecent = replayDraw({
  name: "recent",
  summary: "Draws the newest rollouts first; of equal age, those drawn least often.",
  sources: [],
  params: z.object({}),
  create: () => (kept, n) =>
    unweighted(
      [...kept.keys()]
        .sort((a, b) => kept[a]!.age - kept[b]!.age || kept[a]!.draws - kept[b]!.draws || a - b)
        .slice(0, n),
    ),
});
