/** The keys of a task beside those of its environment or file, and of `generate`, which makes tasks of other tasks. */
import { z } from "zod";
import { refers } from "../references.ts";
import {
  choice,
  choiceItem,
  entry,
  list,
  method,
  namedList,
  scheduled,
  value,
  whereWritten,
  whole,
} from "./kinds.ts";

const generate = entry({
  from: value(
    z.array(refers({ to: "task" })).min(1),
    "Names of the tasks whose tasks may become parents; default: all that are not made.",
  ),
  selector: choice("task_selector", "Which of the tasks that were rolled out become parents.", {
    default: "failures",
  }),
  transform: choice("task_transform", "What is made of them.", { default: "simplify" }),
  author: choice("task_author", "Who makes it.", { default: "program" }),
  answer: choice("task_answer", "Where the answer of a written task comes from.", { default: "verifier" }),
  gates: list(
    "gate",
    choiceItem("task_gate"),
    "What a new task must pass, in order. One that is there already never passes.",
    { default: [{ use: "solvable" }, { use: "not_trivial" }] },
  ),
  joins: value(
    z.enum(["later", "step"]),
    "later: new tasks are drawn by later steps; step: they join the batch of the step whose tasks they are made of, and no other.",
    { default: "later" },
  ),
  every: value(whole(1), "Steps of the stage between two rounds.", { default: 5 }),
  first: value(
    whole(0),
    "Steps of the stage before the first round; 0: before its first step; default: `every`, and 0 where they join the step.",
  ),
  rounds: value(
    whole(0),
    "Most rounds, over all stages that share the tasks; 0: it only remembers what may become a parent; default: no end.",
  ),
  parents: value(whole(1), "Children that a round asks for.", { default: 8 }),
  tries: value(whole(1), "Rollouts that each child is tried with, where a gate asks for it.", { default: 8 }),
  keep: value(whole(1), "Most tasks that are kept; the oldest leave.", { default: 256 }),
  depth: value(whole(1), "How far children may be parents again: 1 is never.", { default: 1 }),
});

const task = method("task", "source", {
  name: value(
    z.string().min(1),
    "The name that arms, reward terms and overrides call it by; default: its env, or its file's stem. Unique.",
  ),
  weight: scheduled(
    z.number().nonnegative(),
    "Share of the tasks drawn, relative to the others'; a sampler over arms ignores it.",
    { default: 1 },
  ),
  generate: whereWritten(
    generate,
    "Makes tasks of other tasks while the run goes on: an arm of its own, empty at first.",
  ),
});

export const tasks = namedList(
  "task",
  { ...task, read: (at) => ({ ...task.read(at), name: at.name }) },
  "Where prompts come from: built-in environments (`env`) and files (`dataset`).",
);
