import { z } from "zod";
import { arms } from "../../../core/declaration.ts";
import { divisionBy, type Naming } from "./division.ts";

/** `<task>/<value>`, or the task's name where it has no value. */
export const valueName: Naming = ({ name }, value) => (value === undefined ? name : `${name}/${value}`);

export const byDifficulty = arms({
  name: "difficulty",
  aliases: ["category"],
  summary:
    "One arm per difficulty of each task source: `<task>/<value>`; a source without difficulties is one arm.",
  sources: ["Self-Evolving Curriculum for LLM Reasoning"],
  params: z.object({}),
  create: () => divisionBy(valueName),
});
