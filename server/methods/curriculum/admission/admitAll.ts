import { z } from "zod";
import { admission } from "../../../core/declaration.ts";
import { yes } from "./verdicts.ts";

export const admitAll = admission({
  name: "none",
  summary: "Every group trains.",
  sources: [],
  params: z.object({}),
  create: () => ({ admit: () => yes }),
});
