/** How many steps the stages take, and in which of them a step of the run lies. */
import { stageKind, type StageKind } from "../../../shared/run/stageKinds.ts";
import type { Clock } from "../../core/basics.ts";
import { child, textOf, type MapNode, type SourceNode } from "../text/node.ts";
import type { StageConfig, Turn } from "../../core/config/stageConfig.ts";

export interface StagePlan {
  readonly kind: StageKind;
  readonly steps: number;
  readonly turns: readonly Turn[];
  readonly part: boolean;
}

export const numberOf = (node: SourceNode | undefined): number | undefined =>
  node?.kind === "scalar" && typeof node.value === "number" ? node.value : undefined;

/** @param fallback steps of a stage that does not say */
export function planned(items: readonly MapNode[], fallback: number): StagePlan[] {
  // Only stages that take no turns themselves can be given some.
  const names = items.map((item) =>
    child(item, "alternate") === undefined ? textOf(child(item, "name")) : undefined,
  );
  const turns = items.map((item) => turnsOf(item, names));
  const plans = items.map((item, index): StagePlan => {
    const kind = turns[index]!.length > 0 ? "alternate" : stageKind(textOf(child(item, "kind")));
    const steps = kind === "merge" ? 1 : (numberOf(child(item, "steps")) ?? fallback);
    return { kind, steps, turns: turns[index]!, part: false };
  });
  const giving = plans.filter((other) => other.turns.length > 0);
  // A stage that others give turns has as many steps as they give it.
  return plans.map((plan, index) => {
    const holders = giving.filter((other) => other.turns.some(({ stage }) => stage === index));
    if (holders.length === 0) return plan;
    const steps = holders.reduce((sum, holder) => sum + stepsOf(holder, index), 0);
    return { ...plan, part: true, steps };
  });
}

/** Turns of stages that are there, and take none themselves; others are reported elsewhere. */
function turnsOf(item: MapNode, names: readonly (string | undefined)[]): Turn[] {
  const list = child(item, "alternate");
  return (list?.kind === "list" ? list.items : []).flatMap((turn): Turn[] => {
    const name = textOf(child(turn, "stage"));
    const steps = numberOf(child(turn, "steps"));
    const stage = name === undefined ? -1 : names.indexOf(name);
    return stage < 0 || steps === undefined || steps < 1 ? [] : [{ stage, steps }];
  });
}

const stepsOf = ({ turns, steps }: Pick<StagePlan, "turns" | "steps">, stage: number): number =>
  turnsTaken(turns, steps).reduce((sum, taken, turn) => sum + (turns[turn]!.stage === stage ? taken : 0), 0);

/** Of the first so many steps of an alternation, how many each turn has taken. */
export function turnsTaken(turns: readonly Turn[], steps: number): number[] {
  const cycle = turns.reduce((sum, turn) => sum + turn.steps, 0);
  const whole = cycle === 0 ? 0 : Math.floor(steps / cycle);
  let rest = steps - whole * cycle;
  return turns.map((turn) => {
    const now = Math.min(turn.steps, rest);
    rest -= now;
    return whole * turn.steps + now;
  });
}

/** Whose step it is. */
interface TurnAt {
  /** Place of the stage among the stages. */
  readonly stage: number;
  /** Steps that this stage has had in the alternation before. */
  readonly before: number;
  /** Whether the turn begins with this step. */
  readonly begins: boolean;
}

/** The turn that step `step` (from 0) of an alternation belongs to. */
export function turnAt(turns: readonly Turn[], step: number): TurnAt {
  const taken = turnsTaken(turns, step);
  const after = turnsTaken(turns, step + 1);
  const turn = taken.findIndex((count, index) => after[index] !== count);
  const { stage, steps } = turns[turn]!;
  const before = taken.reduce((sum, count, index) => sum + (turns[index]!.stage === stage ? count : 0), 0);
  return { stage, before, begins: taken[turn]! % steps === 0 };
}

/** Where a step of the run lies, if every stage lasts all of its steps. */
interface Planned {
  readonly stage: StageConfig;
  readonly clock: Clock;
}

/** Of the first so many steps of a stage, how many are of rl stages. */
export function rlSteps(stage: StageConfig, steps: number, stages: readonly StageConfig[]): number {
  if (stage.kind !== "alternate") return stage.kind === "rl" ? steps : 0;
  return turnsTaken(stage.turns, steps).reduce(
    (sum, taken, turn) => sum + (stages[stage.turns[turn]!.stage]!.kind === "rl" ? taken : 0),
    0,
  );
}

/** The stage and the clock of a step, counted over the whole run from 0; undefined after its end. */
export function placeAt(stages: readonly StageConfig[], step: number): Planned | undefined {
  let [start, rl] = [0, 0];
  for (const stage of stages) {
    if (stage.part) continue;
    if (step < start + stage.steps) {
      const own = step - start;
      const turn = stage.kind === "alternate" ? turnAt(stage.turns, own) : undefined;
      const clock = { step: rl + rlSteps(stage, own, stages), stageStep: turn?.before ?? own };
      return { stage: turn === undefined ? stage : stages[turn.stage]!, clock };
    }
    start += stage.steps;
    rl += rlSteps(stage, stage.steps, stages);
  }
  return undefined;
}

/** Steps of the whole run, of every kind of stage. */
export const stepsInAll = (stages: readonly StageConfig[]): number =>
  stages.reduce((sum, { part, steps }) => sum + (part ? 0 : steps), 0);
