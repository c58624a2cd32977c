/** The keys of a task other than those of its environment or file, and of `generate`, which makes tasks of other tasks. */
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
    "Names of the task sources whose tasks may become parents. Default: all that are not generated.",
  ),
  selector: choice("task_selector", "Which of the tasks that were rolled out become parents.", {
    default: "failures",
  }),
  transform: choice("task_transform", "How a new task is made from its parents.", { default: "simplify" }),
  author: choice("task_author", "What writes the new task: a program, the policy or another model.", {
    default: "program",
  }),
  answer: choice("task_answer", "Where the answer of a written task comes from.", { default: "verifier" }),
  gates: list(
    "gate",
    choiceItem("task_gate"),
    "The checks that a new task must pass, in order. A task that already exists never passes.",
    { default: [{ use: "solvable" }, { use: "not_trivial" }] },
  ),
  joins: value(
    z.enum(["later", "step"]),
    "later: new tasks are drawn by later steps; step: they join the batch of the step whose tasks are their parents, and no other.",
    { default: "later" },
  ),
  every: value(whole(1), "Steps of the stage between two rounds.", { default: 5 }),
  first: value(
    whole(0),
    "Steps of the stage before the first round; 0: a round before its first step. Default: `every`, or 0 where new tasks join the step.",
  ),
  rounds: value(
    whole(0),
    "Most rounds, over all stages that share the tasks. 0: only remembers what may become a parent. Default: no limit.",
  ),
  parents: value(whole(1), "Child tasks that a round asks for: requests, each of `children` texts.", {
    default: 8,
  }),
  children: value(
    whole(1),
    "Texts that a model writes for each child task that is asked for, each a child task of its own: a group in which the `author` of `auxiliary` compares them.",
    { default: 1 },
  ),
  tries: value(whole(1), "Pilot rollouts of each child task, where a gate asks for them.", { default: 8 }),
  keep: value(whole(1), "Most generated tasks that are kept. The oldest are dropped first.", {
    default: 256,
  }),
  depth: value(
    whole(1),
    "How many generations of child tasks there may be; 1: a child task never becomes a parent.",
    { default: 1 },
  ),
});

const task = method("task", "source", {
  name: value(
    z.string().min(1),
    "The unique name that arms, reward terms and overrides use. Default: its env, or its file's stem.",
  ),
  weight: scheduled(
    z.number().nonnegative(),
    "Share of the tasks drawn, relative to other sources. A sampler over arms ignores it.",
    { default: 1 },
  ),
  play: choice(
    "environment",
    "What answers the policy's turns at these tasks, with `rollout.shape: environment`: a file of yours, or a server.",
  ),
  generate: whereWritten(
    generate,
    "Makes new tasks from other tasks during the run. They are an arm of their own, empty at first.",
  ),
});

export const tasks = namedList(
  "task",
  { ...task, read: (at) => ({ ...task.read(at), name: at.name }) },
  "Where prompts come from: built-in environments (`env`) and files (`dataset`).",
);
