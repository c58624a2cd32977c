import { z } from "zod";
import { arms } from "../../../core/declaration.ts";
import { divisionBy } from "./division.ts";

/** Name of the only arm when the curriculum does not divide the tasks. */
export const everything = "all";

export const undivided = arms({
  name: "none",
  summary: "One arm of all tasks; task weights decide which is drawn.",
  sources: [],
  params: z.object({}),
  create: () => divisionBy(() => everything),
});
