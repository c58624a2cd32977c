/** A task's `generate` from a checked tree. */
import { z } from "zod";
import type { JsonObject } from "../../../shared/json.ts";
import { join } from "../text/node.ts";
import type { Reader } from "./reader.ts";
import type { GenerateConfig } from "../../core/config/resolved.ts";

export function buildGenerate(reader: Reader, path: string, json: JsonObject): GenerateConfig {
  const own = z
    .object({
      from: z.array(z.string()).optional(),
      gates: z.array(z.unknown()),
      joins: z.enum(["later", "step"]),
      every: z.number(),
      first: z.number().optional(),
      rounds: z.number().optional(),
      parents: z.number(),
      tries: z.number(),
      keep: z.number(),
      depth: z.number(),
    })
    .parse(json["generate"]);
  const at = join(path, "generate");
  return {
    ...own,
    selector: reader.choice("task_selector", join(at, "selector")),
    transform: reader.choice("task_transform", join(at, "transform")),
    author: reader.choice("task_author", join(at, "author")),
    answer: reader.choice("task_answer", join(at, "answer")),
    gates: own.gates.map((_, index) => reader.choice("task_gate", join(join(at, "gates"), index))),
  };
}
