import { z } from "zod";
import { rewardTerm } from "../../../core/declaration.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { rowsOfGroups } from "../../../core/rows/batch.ts";
import { StepTree, type TreeNode } from "../../../core/rows/stepTree.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { none, value } from "../perRow.ts";
import { atLeast, numbersOf, ofTerm } from "../said.ts";
import { stepsOf } from "./stepScores.ts";

interface Labels {
  /** Steps to the end of the nearest correct rollout below a state, the step into the state included. */
  readonly left: ReadonlyMap<TreeNode, number>;
  /** States from which a correct rollout went on, and those where one ends. */
  readonly solvable: ReadonlySet<TreeNode>;
}

/** Rows of a group as a tree, each with its leaf; those whose outcome is unknown are left out. */
function treeOf(
  batch: Batch,
  rows: readonly number[],
  outcomes: readonly (number | TermValue)[],
): { readonly tree: StepTree; readonly known: readonly number[] } {
  const tree = new StepTree();
  const known = rows
    .filter((row) => typeof outcomes[row] === "number" && stepsOf(batch, row).length > 0)
    .sort((a, b) => batch.records[a]!.index - batch.records[b]!.index);
  for (const row of known) {
    const { index, parent } = batch.records[row]!;
    tree.add({ index, parent, ends: stepsOf(batch, row).map(([, end]) => end) });
  }
  return { tree, known };
}

function labelsOf(leaves: readonly { readonly node: TreeNode; readonly correct: boolean }[]): Labels {
  const left = new Map<TreeNode, number>();
  for (const { node, correct } of leaves) {
    if (!correct) continue;
    let steps = 1;
    for (let at: TreeNode | undefined = node; at !== undefined; at = at.above)
      left.set(at, Math.min(left.get(at) ?? Infinity, steps++));
  }
  const solvable = new Set(left.keys());
  for (const { node } of leaves) {
    let at: TreeNode | undefined = node;
    while (at !== undefined && !left.has(at)) at = at.above;
    const steps = at && left.get(at);
    for (let wrong: TreeNode | undefined = node; steps !== undefined && wrong !== at; wrong = wrong?.above)
      if (wrong !== undefined) left.set(wrong, steps);
  }
  return { left, solvable };
}

/** v after each step from the prompt's 0 on. */
function valuesOf(path: readonly TreeNode[], { left, solvable }: Labels): number[] {
  let before = 0;
  return path.map((node) => {
    const towards = solvable.has(node) ? 1 : -1;
    before = Math.max(before + ((1 - before) / left.get(node)!) * towards, 0);
    return before;
  });
}

export const treeValue = rewardTerm({
  name: "tree_value",
  summary:
    "What each step of a searched group is worth by the tree of its rollouts: it grows towards 1 along the shortest way to a correct answer, and falls where a way is left from which no rollout was correct. Labels for `process`, with `weight: 0`.",
  formula:
    "v_k = max(v_{k−1} + (1 − v_{k−1}) / m · (1 or −1), 0), v_0 = 0; m: steps of the shortest correct rollout through the state, this one included; 1 where there is one, else −1 with the m of the last state that has one",
  sources: ["ReST-MCTS*: LLM Self-Training via Process Reward Guided Tree Search"],
  range: () => [0, 1],
  judges: "answer",
  reads: ({ of }) => [of],
  computes: () => true,
  params: z.object({ of: ofTerm, at_least: atLeast }),
  create: ({ of, at_least }) => ({
    score: (batch, context) => {
      const outcomes = numbersOf(context, of);
      const scored = batch.records.map((_, row): TermValue => {
        const said = outcomes[row]!;
        return typeof said === "number" ? none : said;
      });
      for (const rows of rowsOfGroups(batch)) {
        const { tree, known } = treeOf(batch, rows, outcomes);
        const pathOf = (row: number): readonly TreeNode[] => tree.pathOf(batch.records[row]!.index);
        const leaves = known.map((row) => ({
          node: pathOf(row).at(-1)!,
          correct: Number(outcomes[row]) >= at_least,
        }));
        if (!leaves.some(({ correct }) => correct)) continue;
        const labels = labelsOf(leaves);
        for (const row of known) {
          const values = valuesOf(pathOf(row), labels);
          const { steps } = batch.records[row]!;
          scored[row] =
            steps === undefined || steps.length === 0
              ? value(values.at(-1)!)
              : { kind: "values", level: "step", values };
        }
      }
      return Promise.resolve(scored);
    },
  }),
});
