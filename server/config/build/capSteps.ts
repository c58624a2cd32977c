/** `--steps`: the config cut to so many rl steps. */
import { defaultOrigin } from "../check/check.ts";
import { defaultSteps } from "../../core/blocks/body.ts";
import {
  child,
  entry,
  textOf,
  withEntry,
  type ListNode,
  type MapNode,
  type Origin,
  type SourceNode,
} from "../text/node.ts";
import { numberOf, planned, turnsTaken, type StagePlan } from "./stagePlan.ts";
import { itemsOf } from "../stages.ts";

/** At most so many rl steps over all stages, in their order; a stage with none left is dropped, and who needs it. */
export function capSteps(root: MapNode, steps: number): MapNode {
  const origin: Origin = { ...defaultOrigin, file: `steps=${steps}`, layer: "set" };
  const scalar = (value: number): SourceNode => ({ kind: "scalar", value, origin });
  const list = child(root, "stages");
  const fallback = numberOf(child(root, "steps")) ?? defaultSteps;
  if (list?.kind !== "list" || list.items.length === 0)
    return withEntry(root, "steps", scalar(Math.min(fallback, steps)));
  const plans = planned(itemsOf(root), fallback);
  let [left, index] = [steps, 0];
  const items = list.items.flatMap((item): SourceNode[] => {
    if (item.kind !== "map") return [item];
    const plan = plans[index++]!;
    const turns = rlTurns(plan, plans);
    if (plan.part || (plan.kind !== "rl" && !turns.includes(true))) return [item];
    const own = cappedAt(plan, turns, left);
    left -= own.rl;
    return own.steps === 0 ? [] : [withEntry(item, "steps", scalar(own.steps))];
  });
  const kept = { ...list, items: reachable(list, items) };
  return withEntry(root, "stages", kept, entry(root, "stages")?.key);
}

const itemsAt = (node: SourceNode, ...path: readonly string[]): readonly SourceNode[] => {
  const found = path.reduce<SourceNode | undefined>(child, node);
  return found?.kind === "list" ? found.items : [];
};

const texts = (nodes: readonly SourceNode[], key: string): string[] =>
  nodes.flatMap((node) => textOf(child(node, key)) ?? []);

/** What a stage gives others: itself, the snapshot it keeps, the turns it has. */
const gives = (item: SourceNode): string[] => [
  ...texts([item], "name").map((name) => `stage ${name}`),
  ...texts([child(item, "on_enter") ?? item], "snapshot").map((name) => `snapshot ${name}`),
  ...texts(itemsAt(item, "alternate"), "stage").map((name) => `turns of ${name}`),
];

/** What a stage takes that a dropped one may have given; a part runs only in its turns. */
function takes(item: SourceNode): string[] {
  const parts = [...itemsAt(item, "merge"), ...itemsAt(item, "on_enter", "merge")];
  return [
    ...texts(parts, "stage").map((name) => `stage ${name}`),
    ...texts(parts, "snapshot").map((name) => `snapshot ${name}`),
    ...texts([item], "name").map((name) => `turns of ${name}`),
  ];
}

/** Without the stages that need one that was dropped, and who needs those. What was never given stays an error. */
function reachable(before: ListNode, items: readonly SourceNode[]): readonly SourceNode[] {
  const given = new Set(items.flatMap(gives));
  const lost = new Set(before.items.flatMap(gives).filter((what) => !given.has(what)));
  const kept = items.filter((item) => !takes(item).some((what) => lost.has(what)));
  return kept.length === items.length ? items : reachable(before, kept);
}

/** Whether each turn is one of an rl stage. */
const rlTurns = ({ turns }: StagePlan, plans: readonly StagePlan[]): boolean[] =>
  turns.map(({ stage }) => plans[stage]?.kind === "rl");

/** As many of a stage's steps as hold so many rl steps. */
function cappedAt(
  { kind, steps, turns }: StagePlan,
  rl: readonly boolean[],
  left: number,
): { steps: number; rl: number } {
  if (kind !== "alternate") return { steps: Math.min(steps, left), rl: Math.min(steps, left) };
  const count = (upTo: number): number =>
    turnsTaken(turns, upTo).reduce((sum, taken, turn) => sum + (rl[turn] === true ? taken : 0), 0);
  let own = 0;
  while (own < steps && count(own + 1) <= left) own += 1;
  return { steps: left === 0 ? 0 : own, rl: count(own) };
}
