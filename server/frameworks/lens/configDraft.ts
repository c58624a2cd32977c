/** The converted file: a config in the usual order, with comments, as YAML. */
import { Document, isMap, isScalar, isSeq, visit, type Node } from "yaml";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { isObject } from "../text/values.ts";

const order = [
  "name",
  "seed",
  "steps",
  "model",
  "models",
  "tasks",
  "curriculum",
  "rollout",
  "reward",
  "advantage",
  "objective",
  "kl",
  "mask",
  "replay",
  "auxiliary",
  "update",
  "evaluation",
  "checkpoint",
];
/** Maps and lists that fit on one line this wide are written on one. */
const width = 96;

export class ConfigDraft {
  private readonly tree: Record<string, Json> = {};
  private readonly comments = new Map<string, string>();

  /** Writes a block, or a key of one; undefined values are left out. */
  set(path: string, value: Json | undefined): void {
    if (value === undefined) return;
    const keys = path.split(".");
    const last = keys.pop() ?? path;
    let at: Record<string, Json> = this.tree;
    for (const key of keys) {
      const inner = at[key];
      const next: Record<string, Json> = isObject(inner) ? { ...inner } : {};
      at[key] = next;
      at = next;
    }
    at[last] = value;
  }

  /** What has been written so far. */
  get config(): JsonObject {
    return this.tree;
  }

  /** A comment above a top-level block; several add up. */
  say(block: string, text: string): void {
    const before = this.comments.get(block);
    this.comments.set(block, before === undefined ? text : `${before}\n${text}`);
  }

  /** The whole file. @param title its first comment */
  text(title: string): string {
    const known = order.filter((key) => key in this.tree);
    const others = Object.keys(this.tree).filter((key) => !order.includes(key));
    const document = new Document(
      Object.fromEntries([...known, ...others].map((key) => [key, this.tree[key]!])),
    );
    const { contents } = document;
    if (isMap(contents)) {
      for (const { key, value } of contents.items) {
        const comment = this.comments.get(String(key));
        if (comment !== undefined && isScalar(key))
          key.commentBefore = comment
            .split("\n")
            .map((line) => ` ${line}`)
            .join("\n");
        if (isMap(value) || isSeq(value)) tighten(value, String(key).length + 2);
      }
    }
    document.commentBefore = title
      .split("\n")
      .map((line) => ` ${line}`)
      .join("\n");
    return document.toString({ lineWidth: 0, flowCollectionPadding: true });
  }
}

/** Short maps and lists go on one line, as people write them. */
function tighten(node: Node, indent: number): void {
  visit(node, {
    Collection: (_, item) => {
      if (new Document(item).toString({ lineWidth: 0 }).length + indent > width + 24) return undefined;
      const inline = JSON.stringify(item.toJSON()).length + indent;
      if (inline > width) return undefined;
      item.flow = true;
      return visit.SKIP;
    },
  });
}

/** Leaves out what is undefined. */
export const fields = (values: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, value] as [string, Json]],
    ),
  );
