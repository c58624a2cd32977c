import { z } from "zod";
import { refill } from "../../../core/declaration.ts";

export const noRefill = refill({
  name: "none",
  summary: "The batch stays as small as admission leaves it.",
  sources: [],
  params: z.object({}),
  create: () => ({ more: () => 0 }),
});
