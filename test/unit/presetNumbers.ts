/** The numbers that papers and released code give, as the presets of these methods resolve: what `gradus resolve` shows. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../server/rules/load.ts";
import { listPresets } from "../../server/config/presets.ts";
import type { Json } from "../../shared/lib/json.ts";

export interface Numbers {
  /** Titles of the papers that the preset implements. */
  readonly papers: readonly string[];
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

/** One test a preset: it implements these papers, resolves without a diagnostic, and has these values. */
export function presetsHave(table: Readonly<Record<string, Numbers>>): void {
  const papersOf = new Map(listPresets().map(({ id, papers }) => [id, papers]));
  for (const [id, { papers, text = plain, values }] of Object.entries(table))
    test(`${id}: the numbers of ${papers.join(" and ")}`, () => {
      assert.deepEqual(papersOf.get(id), papers);
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
