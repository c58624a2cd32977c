import { z } from "zod";
import { arms } from "../../../core/declaration.ts";
import { divisionBy } from "./division.ts";

export const byTask = arms({
  name: "task",
  aliases: ["dataset"],
  summary: "One arm per entry of `tasks`.",
  sources: ["DUMP: Automated Distribution-Level Curriculum Learning for RL-based LLM Post-training"],
  params: z.object({}),
  create: () => divisionBy(({ name }) => name),
});
