/**
 * Whose state is whose in a checkpoint. A part (a curriculum, a replay memory, …) is known by its slot and by the methods
 * and parameters that were chosen for it, as the config means them: files by where they lie from the config on, keys in
 * any order.
 */
import { dirname, isAbsolute } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { fingerprint } from "../../core/fingerprint.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { madeTasks } from "../../algorithm/curriculum/openTasks.ts";
import { isObject, type Json, type JsonObject } from "../../../shared/lib/json.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

/** Slots whose state a step that is given up puts back. */
export const boundarySlots = ["generated", "curriculum", "algorithm", "start", "guidance"] as const;
/** Slots whose state a step adds to only when it is done. */
export const lastingSlots = ["replay", "auxiliary"] as const;
export const slots = [...boundarySlots, ...lastingSlots];
export type Slot = (typeof slots)[number];

/** The key of a part's state in a checkpoint. */
type StateKey = `${Slot}/${string}`;
export const slotOf = (key: string): Slot | undefined => slots.find((slot) => key.startsWith(`${slot}/`));

/** As a checkpoint keeps it with the part's state. */
export interface Identity {
  readonly slot: Slot;
  /** What was chosen, under the config's keys. `folder`: where the paths in it begin. */
  readonly about: JsonObject;
  /** Names of the stages that have it. */
  readonly stages: readonly string[];
  /** Place of the last stage that has it. */
  readonly last: number;
}

/** Keys are exact: equal within a run where everything is equal, the folders included. */
const keyOf = (slot: Slot, choices: unknown): StateKey => `${slot}/${fingerprint(choices)}`;
export const stateKeys = {
  /** @param likeness fingerprint of what the tasks are made of */
  generated: (likeness: string): StateKey => `generated/${likeness}`,
  algorithm: ({ advantage }: StageBody): StateKey => keyOf("algorithm", [advantage]),
  replay: ({ replay }: StageBody): StateKey => keyOf("replay", [replay.source, replay.admission]),
  // A loss's weight is read of the stage: another one forgets nothing.
  auxiliary: ({ auxiliary }: StageBody): StateKey => keyOf("auxiliary", weightless(auxiliary)),
  curriculum: ({ tasks, curriculum }: StageBody): StateKey => keyOf("curriculum", [tasks, curriculum]),
  guidance: ({ guidance }: StageBody): StateKey => keyOf("guidance", guidance),
  start: ({ tasks, curriculum }: StageBody): StateKey =>
    keyOf("start", [tasks, curriculum.arms, curriculum.start]),
};
const weightless = (auxiliary: StageBody["auxiliary"]): unknown =>
  auxiliary.map((one) => ({ ...one, weight: 1 }));

/** The parts of a stage: their names, and what was chosen for each. */
function partsOf(body: StageBody): (readonly [slot: Slot, name: string, about: object])[] {
  const { tasks, curriculum, replay } = body;
  return [
    ...madeTasks(tasks).map(({ name, likeness }) => {
      const [, generate, sources] = likeness;
      const about = { tasks: { ...Object.fromEntries(sources), [name]: { generate } } };
      return ["generated", keyOf("generated", likeness), about] as const;
    }),
    ["curriculum", stateKeys.curriculum(body), { tasks, curriculum }],
    ["algorithm", stateKeys.algorithm(body), { advantage: body.advantage }],
    [
      "start",
      stateKeys.start(body),
      { tasks, curriculum: { arms: curriculum.arms, start: curriculum.start } },
    ],
    ["guidance", stateKeys.guidance(body), { guidance: body.guidance }],
    ["replay", stateKeys.replay(body), { replay: { source: replay.source, admission: replay.admission } }],
    ["auxiliary", stateKeys.auxiliary(body), { auxiliary: weightless(body.auxiliary) }],
  ];
}

/** Every part of a run, by its name, in the order in which stages make them. */
export function identitiesOf({ stages, file }: Pick<RunConfig, "stages" | "file">): Map<string, Identity> {
  const found = new Map<string, Identity>();
  stages.forEach((stage, index) => {
    // The turns of an alternation come as long as it goes on.
    const last = Math.max(
      index,
      ...stages.flatMap(({ turns }, at) => (turns.some((turn) => turn.stage === index) ? [at] : [])),
    );
    for (const [slot, name, about] of partsOf(stage.body)) {
      const before = found.get(name);
      found.set(name, {
        slot,
        about: before?.about ?? plain({ folder: dirname(file), ...about }),
        stages: [...(before?.stages ?? []), stage.name],
        last: Math.max(before?.last ?? 0, last),
      });
    }
  });
  return found;
}

/** As JSON, without the choices' methods. */
function plain(value: object): JsonObject {
  const parsed: JsonObject = JSON.parse(
    JSON.stringify(value, (key, part: unknown) => (key === "declaration" ? undefined : part)),
  );
  return parsed;
}

export interface Difference {
  /** As a config addresses it. */
  readonly path: string;
  readonly before: Json;
  readonly now: Json;
}

/** Two folders that replace each other: what lies in one then lies in the other now. */
export type Places = readonly (readonly [before: string, now: string])[];

/**
 * In what two choices differ. A key that only one side has is no difference: a later version may know more keys, each
 * with a default that does what the earlier one did.
 */
export function differences(before: Json, now: Json, places: Places = [], path = ""): Difference[] {
  if (isObject(before) && isObject(now)) {
    const [left, right] = [before["folder"], now["folder"]];
    const own: Places = isPath(left) && isPath(right) ? [[left, right]] : [];
    return Object.keys(before).flatMap((key) => {
      const [one, other] = [before[key], now[key]];
      if (one === undefined || other === undefined || (key === "folder" && own.length > 0)) return [];
      // Of a choice, the method's parameters are next to its name in a config.
      const below = key === "params" && "use" in before ? path : path === "" ? key : `${path}.${key}`;
      return differences(one, other, [...places, ...own], below);
    });
  }
  if (Array.isArray(before) && Array.isArray(now) && before.length === now.length)
    return before.flatMap((one, at) => differences(one, now[at]!, places, `${path}.${itemName(one) ?? at}`));
  return isDeepStrictEqual(before, now) || isSameFile(before, now, places) ? [] : [{ path, before, now }];
}

const isPath = (value: Json | undefined): value is string => typeof value === "string" && isAbsolute(value);
const isSameFile = (before: Json, now: Json, places: Places): boolean =>
  isPath(before) &&
  isPath(now) &&
  places.some(([from, to]) => relativePath(from, before) === relativePath(to, now));

/** Keys that only one side has: of several that fit, the nearest. */
export function unshared(before: Json, now: Json): number {
  if (Array.isArray(before) && Array.isArray(now))
    return before.reduce<number>((sum, left, at) => sum + unshared(left, now[at] ?? null), 0);
  if (!isObject(before) || !isObject(now)) return 0;
  const keys = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...keys].reduce((sum, key) => {
    const [left, right] = [before[key], now[key]];
    return sum + (left === undefined || right === undefined ? 1 : unshared(left, right));
  }, 0);
}

function itemName(item: Json): string | undefined {
  const name = isObject(item) ? item["name"] : undefined;
  return typeof name === "string" ? name : undefined;
}
