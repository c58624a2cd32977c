import { z } from "zod";
import { branching, param } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import { StepTree, type TreeNode } from "../../../core/rows/stepTree.ts";
import type { Searched, TreeSearch } from "../../../core/slots/branching.ts";
import type { Random } from "../../../lib/random.ts";

const params = z.object({
  c: param(z.number().nonnegative().default(0.7), "Weight of exploring: 0 follows the best value alone."),
  width: param(
    z.number().int().min(1).default(3),
    "Different next steps of a state; only then is one of them gone on from.",
  ),
  parallel: param(
    z.number().int().min(1).default(1),
    "Rollouts of a group that are placed and written at once. A step makes `rollout.group` / `parallel` rounds of generation.",
  ),
  stride: param(
    z.number().int().min(1).default(8),
    "Tokens of a step, where `rollout.steps` does not say what ends one.",
  ),
  by: param(
    refers({ to: "term" }).optional(),
    "The term whose value of a rollout is backed up, of one that scores steps the last step's: a process reward model, say. Default: the combined reward. Values from 0 to 1 suit `c`.",
  ),
});
type Params = z.output<typeof params>;

interface Stats {
  /** Rollouts through the state, those that are being written included. */
  visits: number;
  sum: number;
  valued: number;
  /** Next steps that are being written. */
  pending: number;
}

class Search implements TreeSearch {
  private readonly tree = new StepTree();
  private readonly stats = new Map<TreeNode, Stats>();

  constructor(private readonly options: Pick<Params, "c" | "width">) {}

  next(random: Random): { readonly index: number; readonly token: number } | undefined {
    let node = this.tree.root;
    for (let open = this.openBelow(node); this.isWide(node) && open.length > 0; open = this.openBelow(node))
      node = this.best(node, open, random);
    this.of(node).pending += 1;
    this.visit(node);
    return node.above === undefined ? undefined : { index: node.index, token: node.token };
  }

  add({ value, ...rollout }: Searched): void {
    const from = this.tree.nodeAt(rollout.parent);
    const stats = this.of(from);
    if (stats.pending > 0) stats.pending -= 1;
    else this.visit(from);
    const own = this.tree.add(rollout);
    for (const node of own) this.of(node).visits = 1;
    if (Number.isNaN(value)) return;
    for (let node: TreeNode | undefined = own.at(-1) ?? from; node !== undefined; node = node.above) {
      const reached = this.of(node);
      reached.sum += value;
      reached.valued += 1;
    }
  }

  private of(node: TreeNode): Stats {
    const known = this.stats.get(node) ?? { visits: 0, sum: 0, valued: 0, pending: 0 };
    this.stats.set(node, known);
    return known;
  }

  private visit(from: TreeNode): void {
    for (let node: TreeNode | undefined = from; node !== undefined; node = node.above)
      this.of(node).visits += 1;
  }

  private isWide(node: TreeNode): boolean {
    return node.below.length + this.of(node).pending >= this.options.width;
  }

  private openBelow = ({ below }: TreeNode): TreeNode[] => below.filter((node) => this.isOpen(node));

  /** Whether there is something below it that has not been tried. */
  private isOpen(node: TreeNode): boolean {
    return !node.isLeaf && (!this.isWide(node) || node.below.some((next) => this.isOpen(next)));
  }

  private best(above: TreeNode, nodes: readonly TreeNode[], random: Random): TreeNode {
    const { visits } = this.of(above);
    const scores = nodes.map((node) => {
      const own = this.of(node);
      const value = own.valued === 0 ? 0 : own.sum / own.valued;
      return value + this.options.c * Math.sqrt((2 * Math.log(visits)) / own.visits);
    });
    const most = Math.max(...scores);
    const equal = nodes.filter((_, i) => scores[i] === most);
    return equal[random.integer(equal.length)]!;
  }
}

export const treeSearch = branching({
  name: "tree_search",
  aliases: ["mcts"],
  summary:
    "Monte-Carlo tree search over steps: one rollout after the other leaves an earlier one of its group after some step, chosen by UCB from what the rollouts through each step were worth, and is written to its end. The group's size is the budget.",
  formula:
    "next below s: argmax_a V(a) + c √(2 ln N(s) / N(a)), V = mean value of the rollouts through a; s itself while it has fewer than `width`",
  sources: [
    "ReST-MCTS*: LLM Self-Training via Process Reward Guided Tree Search",
    "Reasoning Language Models: A Blueprint",
  ],
  params,
  create: ({ parallel, stride, by, ...options }) => ({
    children: 0,
    budget: "rest",
    leave: () => undefined,
    search: { parallel, stride, by, begin: () => new Search(options) },
  }),
});
