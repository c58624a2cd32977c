/** The numbers that papers and released code give, as the presets of these methods resolve: what `gradus resolve` shows. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../server/rules/load.ts";
import { listPresets } from "../../server/config/presets.ts";
import type { Json } from "../../shared/json.ts";

export interface Numbers {
  /** Rows of the catalogue that the preset stands for. */
  readonly rows: readonly string[];
  /** The rest of the config, where it is not a task and a reward. */
  readonly text?: string;
  /** By paths of keys, of names of things in lists, and of places. */
  readonly values: Readonly<Record<string, Json>>;
}

export const reward = "reward: { terms: { correct: equation } }\n";
export const plain = `tasks: [{ env: countdown }]\n${reward}`;

const isList = (node: Json): node is readonly Json[] => Array.isArray(node);

function at(tree: Json, path: string): Json | undefined {
  return path.split(".").reduce<Json | undefined>((node, key) => {
    if (node === undefined || node === null || typeof node !== "object") return undefined;
    if (!isList(node)) return node[key];
    return /^\d+$/.test(key) ? node[Number(key)] : node.find((one) => at(one, "name") === key);
  }, tree);
}

/** One test a preset: it stands for these rows, resolves without a finding, and has these values. */
export function presetsHave(table: Readonly<Record<string, Numbers>>): void {
  const rowsOf = new Map(listPresets().map(({ id, rows }) => [id, rows]));
  for (const [id, { rows, text = plain, values }] of Object.entries(table))
    test(`${id}: the numbers of ${rows.join(" and ")}`, () => {
      assert.deepEqual(rowsOf.get(id), rows);
      const { tree, diagnostics } = loadConfig(resolve("any.gradus.yaml"), {
        text: `extends: ${id}\n${text}`,
      });
      // That a published curriculum seeks what always fails is a remark.
      assert.deepEqual(
        diagnostics.filter(({ rule }) => rule !== "failing-tasks"),
        [],
      );
      const found = Object.fromEntries(Object.keys(values).map((path) => [path, at(tree, path)]));
      assert.deepEqual(found, values);
    });
}
