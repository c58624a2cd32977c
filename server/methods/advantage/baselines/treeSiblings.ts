import { z } from "zod";
import { baseline, param } from "../../../core/declaration.ts";
import { noAdvantages } from "../population.ts";
import type { AdvantageInput } from "../../../core/slots/advantage.ts";

interface Node {
  readonly row: number;
  /** Tokens that the row's branches left at, ascending, with their rows. */
  readonly children: { readonly token: number; readonly node: Node }[];
}

/** The group's rollouts as trees: those without a (known) parent are roots. */
function treesOf({ batch }: AdvantageInput, rows: Int32Array): Node[] {
  const nodes = new Map<number, Node>();
  for (const row of rows) nodes.set(batch.records[row]!.index, { row, children: [] });
  const roots: Node[] = [];
  for (const row of rows) {
    const { parent, index } = batch.records[row]!;
    const above = parent === undefined || parent.index === index ? undefined : nodes.get(parent.index);
    const node = nodes.get(index)!;
    if (above === undefined || parent === undefined) roots.push(node);
    else above.children.push({ token: parent.token, node });
  }
  for (const { children } of nodes.values()) children.sort((a, b) => a.token - b.token);
  return roots;
}

interface Sum {
  readonly sum: number;
  readonly count: number;
}
const plus = (a: Sum, b: Sum): Sum => ({ sum: a.sum + b.sum, count: a.count + b.count });
const average = ({ sum, count }: Sum): number => sum / count;

/** Rewards of all leaves below a row, its own included. */
const below = ({ row, children }: Node, totals: Float64Array): Sum =>
  children.reduce((all, { node }) => plus(all, below(node, totals)), { sum: totals[row]!, count: 1 });

/** Leaves below the state of a row just before its token `at`: its own, and the branches that leave there or later. */
const state = ({ row, children }: Node, at: number, totals: Float64Array): Sum =>
  children.reduce((all, { token, node }) => (token >= at ? plus(all, below(node, totals)) : all), {
    sum: totals[row]!,
    count: 1,
  });

/** What a stretch of tokens is compared with: the state it began from, or the other ways that were tried from there. */
const compared = (own: Sum, before: Sum, against: "parent" | "siblings"): number => {
  if (against === "parent") return average(own) - average(before);
  const others = { sum: before.sum - own.sum, count: before.count - own.count };
  return others.count === 0 ? 0 : average(own) - average(others);
};

export const treeSiblings = baseline({
  name: "tree_siblings",
  summary:
    "In a tree of rollouts (`parent` says where a branch left its sibling), a segment between two branch points gets the mean reward of all leaves below it, minus that of the state it starts from or of the other branches from there.",
  formula: "A(segment) = V(after) − V(before), V(s) = mean reward of the leaves below s",
  sources: [
    "DeepSearch: Overcome the Bottleneck of Reinforcement Learning with Verifiable Rewards via Monte Carlo Tree Search",
  ],
  needs: ["siblings"],
  params: z.object({
    against: param(
      z.enum(["parent", "siblings"]).default("parent"),
      "What a segment is compared with: the state before it, or the mean over the leaves of the other branches from there.",
    ),
  }),
  actsOn: () => ["branches"],
  create: ({ against }) => ({
    level: "token",
    returns: "own",
    centre(input) {
      const advantages = noAdvantages(input);
      const visit = (node: Node, start: Sum): void => {
        const marks = [...new Set(node.children.map(({ token }) => token))].filter((token) => token > 0);
        const length = input.batch.offsets[node.row + 1]! - input.batch.offsets[node.row]!;
        let before = start;
        [...marks, length].forEach((end, k) => {
          const from = marks[k - 1] ?? 0;
          const after =
            k === marks.length ? { sum: input.totals[node.row]!, count: 1 } : state(node, end, input.totals);
          // Leaves that leave at `from` itself are other ways, not below this stretch.
          fillTokens(input, advantages, node.row, from, end, compared(after, before, against));
          before = after;
        });
        for (const { token, node: child } of node.children) visit(child, state(node, token, input.totals));
      };
      for (const rows of input.groups) {
        const roots = treesOf(input, rows);
        const all = roots.reduce((sum, root) => plus(sum, below(root, input.totals)), { sum: 0, count: 0 });
        for (const root of roots) visit(root, all);
      }
      return advantages;
    },
  }),
});

/** Units of a row whose first token lies in [from, to) of the row. */
function fillTokens(
  { units, batch }: AdvantageInput,
  into: Float64Array,
  row: number,
  from: number,
  to: number,
  value: number,
): void {
  for (let unit = units.offsets[row]!; unit < units.offsets[row + 1]!; unit++) {
    const at = units.start[unit]! - batch.offsets[row]!;
    if (at >= from && at < to) into[unit] = value;
  }
}
