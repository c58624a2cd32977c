import { z } from "zod";
import { arms } from "../config/declaration.ts";

/** Name of the only arm when the curriculum does not divide the tasks. */
export const everything = "all";

export const byDifficulty = arms({
  name: "difficulty",
  summary: "One arm per difficulty of each task source: `<task>/<value>`; a source without difficulties is one arm.",
  sources: ["Self-Evolving Curriculum for LLM Reasoning"],
  params: z.object({}),
  create: () => (task, source) => {
    const value = source.valueOf(task);
    return value === undefined ? source.name : `${source.name}/${value}`;
  },
});

export const byTask = arms({
  name: "task",
  aliases: ["dataset"],
  summary: "One arm per entry of `tasks`.",
  sources: ["DUMP: Automated Distribution-Level Curriculum Learning for RL-based LLM Post-training"],
  params: z.object({}),
  create: () => (_task, source) => source.name,
});

export const undivided = arms({
  name: "none",
  summary: "One arm of all tasks; task weights decide which is drawn.",
  sources: [],
  params: z.object({}),
  create: () => () => everything,
});
