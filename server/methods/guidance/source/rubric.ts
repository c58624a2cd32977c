import { z } from "zod";
import { guidanceSource, param } from "../../../core/declaration.ts";
import { refers, template } from "../../../core/references.ts";
import type { Random } from "../../../lib/random.ts";
import { fill } from "../../../core/templates.ts";
import { rubricOf } from "../../../core/rubrics.ts";
import type { Help, Lack } from "../../../core/slots/guidance.ts";

/** A number of the items, drawn without replacement, in their order. */
function some<Item>(items: readonly Item[], count: number, random: Random): Item[] {
  const keyed = items.map((item, at) => ({ item, at, draw: random.fork(at).next() }));
  const taken = [...keyed].sort((a, b) => a.draw - b.draw).slice(0, count);
  return taken.sort((a, b) => a.at - b.at).map(({ item }) => item);
}

export const rubric = guidanceSource({
  name: "rubric",
  summary:
    "Puts criteria of the task's rubric into the prompt: the share says how many, and they are drawn at random.",
  formula: "shown = round(share · criteria)",
  sources: [
    "Breaking the Exploration Bottleneck: Rubric-Scaffolded Reinforcement Learning for General LLM Reasoning",
  ],
  offers: () => ({ place: "prompt", divisible: true }),
  params: z.object({
    field: param(
      refers({ to: "field" }).default("rubric"),
      "Field of the task's data: a list of criteria, texts or `{ criterion }`.",
    ),
    template: param(
      template("prompt", "help").default("{prompt}\nA good answer meets these criteria:\n{help}\n"),
      "Template of the prompt with its criteria, one per line: `{prompt}` and `{help}`.",
    ),
  }),
  create: ({ field, template }) => ({
    reads: "task",
    help: (requests) =>
      Promise.resolve(
        requests.map(({ task, share, random }): Help | Lack => {
          const criteria = rubricOf(task, field).map(({ text }) => text);
          if (criteria.length === 0)
            return { lack: `the task's field \`${field}\` is not a list of criteria` };
          const chosen = some(criteria, Math.round(share * criteria.length), random.fork("criteria"));
          const help = chosen.map((text) => `- ${text}`).join("\n");
          return {
            from: "guided",
            by: field,
            ...(chosen.length > 0 && { prompt: fill(template, { prompt: task.prompt, help }) }),
          };
        }),
      ),
  }),
});
