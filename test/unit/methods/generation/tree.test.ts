import assert from "node:assert/strict";
import { test } from "node:test";
import type { MadeTask } from "../../../../shared/protocol/protocol.ts";
import { taskTree } from "../../../../shared/run/taskTree.ts";

const task = (id: string, changes: Partial<MadeTask>): MadeTask => ({
  id,
  source: "new",
  prompt: `ask ${id}`,
  answer: null,
  parents: ["a"],
  generation: 1,
  step: 1,
  transform: "evolve",
  author: "policy",
  answered: "none",
  tried: null,
  seen: { groups: 0, successes: 0, rollouts: 0 },
  ...changes,
});

test("the tree has each task once, under its first parent, with who made it and how hard it was", () => {
  const tasks = [
    task("b", { tried: { successes: 1, rollouts: 4 }, seen: { groups: 2, successes: 5, rollouts: 8 } }),
    task("c", { parents: ["b", "a"], generation: 2, step: 2 }),
  ];
  assert.deepEqual(taskTree(tasks), [
    "a",
    "  ask b  (new, step 1: evolve by policy, solved 1 of 4, in training 5 of 8)",
    "    ask c  (new, step 2: evolve by policy, also of a)",
  ]);
  assert.deepEqual(taskTree([]), []);
});
