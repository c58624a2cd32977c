/** What follows from `rollout.branch`, for rules and the run. */
import type { StageBody } from "./resolved.ts";

type BranchBlock = Pick<StageBody["rollout"], "branch">;

/** Whether some rollouts of a group leave others. */
export const branches = ({ branch }: BranchBlock): boolean => branch.declaration.name !== "none";

/** n2: branches of each first rollout; 0 where there are none. */
export function childrenOf({ branch }: BranchBlock): number {
  const { children } = branch.params;
  return typeof children === "number" ? children : 0;
}

/**
 * n1: how many rollouts of a group are first ones. A group of n1 · (1 + n2) is divided evenly; of another, which a
 * budget by task may make, the last of them has fewer branches.
 */
export const firstsOf = (group: number, children: number): number => Math.ceil(group / (1 + children));

/** Whether a branch may write `max_tokens` of its own after what it took over. */
export const hasWholeBudget = ({ branch }: BranchBlock): boolean => branch.params["budget"] === "whole";
