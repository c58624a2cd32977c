/** Reads values of a checked tree by path, each through its type. */
import { z } from "zod";
import type { Json, JsonObject } from "../../../shared/json.ts";
import type { Checker } from "../check/check.ts";
import { scheduleSchema, type Scheduled } from "../../core/schedule.ts";
import { type SlotName } from "../../core/declaration.ts";
import { grammar } from "../grammar/grammar.ts";
import { child, join, type MapNode, type SourceNode } from "../text/node.ts";
import { itemName, withClock } from "./parsed.ts";
import type { Choice } from "../../core/config/resolved.ts";

/** A body's merged tree with what the walk over it found. */
export interface CheckedTree {
  readonly node: MapNode;
  readonly json: JsonObject;
  readonly checker: Checker;
}

/** Types that are read through again and again: making one costs more than applying it. */
const number = z.number();
const text = z.string();
export const types = {
  number,
  maybeNumber: number.optional(),
  numbers: z.array(number),
  numberOrAuto: z.union([z.literal("auto"), number]),
  flagOrAuto: z.union([z.boolean(), z.literal("auto")]),
  text,
  maybeText: text.optional(),
  texts: z.array(text),
  maybeTexts: z.array(text).optional(),
  numberByText: z.record(text, number),
  stageKind: z.enum(["sft", "rl"]),
};
const scheduled = z.union([number, scheduleSchema]);

export class Reader {
  constructor(private readonly tree: CheckedTree) {}

  node(...path: readonly string[]): SourceNode | undefined {
    return path.reduce<SourceNode | undefined>((at, key) => child(at, key), this.tree.node);
  }

  json(...path: readonly string[]): Json | undefined {
    return path.reduce<Json | undefined>((at, key) => (isObject(at) ? at[key] : undefined), this.tree.json);
  }

  read<Schema extends z.ZodType>(schema: Schema, ...path: readonly string[]): z.output<Schema> {
    return schema.parse(this.json(...path));
  }

  number = (...path: readonly string[]): number => this.read(number, ...path);

  /** A number over steps, its clock told by where it was written. */
  scheduled(json: Json | undefined, node: SourceNode | undefined): Scheduled {
    const value = scheduled.parse(json);
    return node === undefined ? value : withClock(value, node);
  }

  choice<Slot extends SlotName>(slot: Slot, path: string): Choice<Slot> {
    const found = this.tree.checker.choice(path);
    if (found === undefined || !isOf(found, slot)) throw new Error(`no method was chosen for ${path}`);
    return found;
  }

  /** Paths of the items of a list without names, wherever it stands. */
  paths(...path: readonly string[]): string[] {
    const list = this.node(...path);
    return list?.kind === "list" ? list.items.map((_, index) => join(path.join("."), index)) : [];
  }

  /** Items of a list with the paths the walk gave them. */
  items(
    key: "tasks" | "kl" | "route" | "mask" | "auxiliary" | "stages",
  ): { path: string; json: JsonObject; node: SourceNode; index: number }[] {
    const list = this.node(key);
    const json = this.json(key);
    const shape = grammar.fields[key]?.shape;
    if (list?.kind !== "list" || !Array.isArray(json) || shape === undefined) return [];
    return list.items.map((node, index) => {
      const value: Json = json[index];
      return {
        path: join(key, itemName(shape, node, index, list)),
        json: isObject(value) ? value : {},
        node,
        index,
      };
    });
  }
}

const isOf = <Slot extends SlotName>(choice: Choice<SlotName>, slot: Slot): choice is Choice<Slot> =>
  choice.declaration.slot === slot;

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
