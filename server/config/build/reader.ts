/** A checked tree as the declarations of its keys read it. */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import type { Checker } from "../check/check.ts";
import { nameOf } from "../check/method.ts";
import type { CheckedValue } from "../../core/blocks/field.ts";
import type { Choice, SlotName } from "../../core/declaration.ts";
import { child, join, type MapNode, type SourceNode } from "../text/node.ts";
import { itemName, withClock } from "./parsed.ts";

/** A body's merged tree with what the walk over it found. */
export interface CheckedTree {
  readonly node: MapNode;
  readonly json: JsonObject;
  readonly checker: Checker;
}

class CheckedPlace implements CheckedValue {
  /** @param path as the walk calls it */
  constructor(
    private readonly checker: Checker,
    private readonly node: SourceNode | undefined,
    readonly json: Json | undefined,
    private readonly path: string,
    readonly name: string,
  ) {}

  get byDefault(): boolean {
    return this.node?.origin.layer === "default";
  }

  get folder(): string | undefined {
    return this.node?.origin.folder;
  }

  below(key: string): CheckedValue {
    const { checker, node, json, path } = this;
    const below = isObject(json) ? (json[key] ?? undefined) : undefined;
    return new CheckedPlace(checker, child(node, key), below, join(path, key), key);
  }

  items(named?: "task" | "stage"): readonly CheckedValue[] {
    const { checker, node: list, json, path } = this;
    return (Array.isArray(json) ? json : []).map((item: Json, index) => {
      // A list that is an item's default has no node.
      const node = list?.kind === "list" ? list.items[index] : undefined;
      const isNamed = named !== undefined && node !== undefined && list?.kind === "list";
      const at = join(path, isNamed ? itemName(named, node, index, list) : index);
      const name = (isNamed ? nameOf(node, named) : undefined) ?? at;
      return new CheckedPlace(checker, node, item, at, name);
    });
  }

  named(): readonly CheckedValue[] {
    return Object.keys(isObject(this.json) ? this.json : {}).map((key) => this.below(key));
  }

  choice<Slot extends SlotName>(slot: Slot): Choice<Slot> {
    const found = this.checker.choice(this.path);
    if (found === undefined || !isOf(found, slot)) throw new Error(`no method was chosen for ${this.path}`);
    return found;
  }

  clocked<Value>(value: Value): Value {
    return this.node === undefined ? value : withClock(value, this.node);
  }
}

export const checkedValue = ({ node, json, checker }: CheckedTree): CheckedValue =>
  new CheckedPlace(checker, node, json, "", "");

const isOf = <Slot extends SlotName>(choice: Choice<SlotName>, slot: Slot): choice is Choice<Slot> =>
  choice.declaration.slot === slot;

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
