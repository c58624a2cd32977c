/** The keys of a task's `generate`. */
import { z } from "zod";
import type { JsonObject } from "../../../shared/json.ts";
import { slot, value, whole } from "./fields.ts";
import { refers } from "../../core/references.ts";
import type { Field } from "./shape.ts";

/** Of `generate`, where it is written. */
const generateDefaults: JsonObject = {
  selector: { use: "failures" },
  transform: { use: "simplify" },
  author: { use: "program" },
  answer: { use: "verifier" },
  gates: [{ use: "solvable" }, { use: "not_trivial" }],
  joins: "later",
  every: 5,
  parents: 8,
  tries: 8,
  keep: 256,
  depth: 1,
};

export const generateField: Field = {
  shape: {
    kind: "map",
    defaults: generateDefaults,
    fields: {
      from: value(
        z.array(refers({ to: "task" })).min(1),
        "Names of the tasks whose tasks may become parents; default: all that are not made.",
      ),
      selector: slot("task_selector", "Which of the tasks that were rolled out become parents."),
      transform: slot("task_transform", "What is made of them."),
      author: slot("task_author", "Who makes it."),
      answer: slot("task_answer", "Where the answer of a written task comes from."),
      gates: {
        shape: { kind: "list", item: { kind: "slot", slot: "task_gate", own: {} }, what: "gate" },
        summary: "What a new task must pass, in order. One that is there already never passes.",
      },
      joins: value(
        z.enum(["later", "step"]),
        "later: new tasks are drawn by later steps; step: they join the batch of the step whose tasks they are made of, and no other.",
      ),
      every: value(whole(1), "Steps of the stage between two rounds."),
      first: value(
        whole(0),
        "Steps of the stage before the first round; 0: before its first step; default: `every`, and 0 where they join the step.",
      ),
      rounds: value(
        whole(0),
        "Most rounds, over all stages that share the tasks; 0: it only remembers what may become a parent; default: no end.",
      ),
      parents: value(whole(1), "Children that a round asks for."),
      tries: value(whole(1), "Rollouts that each child is tried with, where a gate asks for it."),
      keep: value(whole(1), "Most tasks that are kept; the oldest leave."),
      depth: value(whole(1), "How far children may be parents again: 1 is never."),
    },
  },
  summary: "Makes tasks of other tasks while the run goes on: an arm of its own, empty at first.",
};
