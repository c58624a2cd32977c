/** A group's rollouts as a tree of steps: those that left another share what they took over. */

/** A state: what the prompt and the steps so far make. */
export interface TreeNode {
  /** The rollout that wrote the last of these steps, by its place in the group, and the token after them. */
  readonly index: number;
  readonly token: number;
  /** undefined: the prompt. */
  readonly above: TreeNode | undefined;
  readonly below: TreeNode[];
  /** A rollout ends here. */
  readonly isLeaf: boolean;
}

export interface TreeRollout {
  readonly index: number;
  readonly parent?: { readonly index: number; readonly token: number } | undefined;
  /** Where its steps end, ascending, what it took over included; the last is where it ends. */
  readonly ends: readonly number[];
}

export class StepTree {
  readonly root: TreeNode = { index: -1, token: 0, above: undefined, below: [], isLeaf: false };
  private readonly paths = new Map<number, readonly TreeNode[]>();

  /** The last state of a rollout that is at or before a token of it; the prompt of a rollout that is not known. */
  nodeAt(place: { readonly index: number; readonly token: number } | undefined): TreeNode {
    const path = place === undefined ? undefined : this.paths.get(place.index);
    return path?.findLast(({ token }) => token <= (place?.token ?? 0)) ?? this.root;
  }

  /** A rollout's states in order, without the prompt; empty of one that is not known. */
  pathOf(index: number): readonly TreeNode[] {
    return this.paths.get(index) ?? [];
  }

  /** A rollout after the one that it left. @returns the states that it adds */
  add({ index, parent, ends }: TreeRollout): readonly TreeNode[] {
    let node = this.nodeAt(parent);
    const shared: TreeNode[] = [];
    for (let at: TreeNode | undefined = node; at?.above !== undefined; at = at.above) shared.unshift(at);
    const from = node.token;
    const own = ends
      .filter((end) => end > from)
      .map((token, k, all): TreeNode => {
        const next = { index, token, above: node, below: [], isLeaf: k === all.length - 1 };
        node.below.push(next);
        return (node = next);
      });
    this.paths.set(index, [...shared, ...own]);
    return own;
  }
}
