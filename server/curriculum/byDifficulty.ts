import { z } from "zod";
import { arms } from "../config/declaration.ts";

export const byDifficulty = arms({
  name: "difficulty",
  summary:
    "One arm per difficulty of each task source: `<task>/<value>`; a source without difficulties is one arm.",
  sources: ["Self-Evolving Curriculum for LLM Reasoning"],
  params: z.object({}),
  create: () => (task, source) => {
    const value = source.valueOf(task);
    return value === undefined ? source.name : `${source.name}/${value}`;
  },
});
