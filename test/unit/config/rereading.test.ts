/** A config that is read again says what it says when it is read first, whatever has changed in the files that it names. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { longConfig } from "../../../bench/longConfig.ts";
import { loadConfig } from "../../../server/rules/load.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-reread-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "long.gradus.yaml");

/** Everything that a reading tells, whatever the file is called. */
function told(path: string, text: string): string {
  const { config, diagnostics, tree, origins, readable } = loadConfig(path, { text });
  const stages = config?.stages;
  const said = JSON.stringify({ diagnostics, tree, origins, readable, stages }, (key, value: unknown) =>
    key === "declaration" ? undefined : value,
  );
  return said.replaceAll(/\bfresh\d+\b/g, "long");
}

let others = 0;
/** Of a file that nobody has read before nothing can be known. */
const fresh = (text: string): string => told(join(folder, `fresh${(others += 1)}.gradus.yaml`), text);

function compare(text: string): void {
  const said = told(file, text);
  const first = fresh(text);
  // Told in full only where they differ: there is much of it.
  if (said !== first) assert.deepEqual(JSON.parse(said), JSON.parse(first));
}

const stages = [
  "  - { name: warm, kind: sft, steps: 5, batch: 16 }",
  "  - name: late",
  "    steps: 20",
  "    until: { metric: eval/pass@1, above: 0.5 }",
  "    on_enter: [refresh_reference]",
  "    reward: { terms: { term3: { weight: 0 }, term4: null } }",
  "  - { name: both, alternate: [{ stage: warm, steps: 1 }, { stage: late, steps: 2 }], steps: 6 }",
  "  - { name: faded, crossfade: { over: 5 }, steps: 10, rollout: { max_tokens: 32 } }",
];
const lines = longConfig(300);
const text = [...lines.slice(0, lines.lastIndexOf("    steps: 10") - 1), ...stages, ""].join("\n");

describe("a config that is read again", () => {
  it("sees what has changed in the files that it names", () => {
    const preset = join(folder, "base.gradus.yaml");
    const rows = join(folder, "rows.jsonl");
    const reward = join(folder, "own.ts");
    const own = text
      .replace("extends: sec", "extends: ./base.gradus.yaml")
      .replace(
        "tasks:\n",
        "tasks:\n  - { name: rows, dataset: ./rows.jsonl, answer: answer, prompt: question }\n",
      )
      .replace("  terms:\n", "  terms:\n    own: { use: ./own.ts }\n");
    const states: readonly (() => void)[] = [
      () => writeFileSync(preset, "extends: sec\n"),
      () => writeFileSync(rows, '{"question": "1 + 1", "answer": "2"}\n'),
      () => writeFileSync(reward, "export default () => 1;\n"),
      () => writeFileSync(rows, '{"question": "1 + 1", "solution": "two", "pass_rate": 0.99}\n'),
      () => writeFileSync(preset, "rollout: { group: 1 }\n"),
      () => writeFileSync(reward, "export const other = () => 1;\n"),
      () => rmSync(rows),
      () => mkdirSync(rows),
    ];
    const seen = new Set<string>();
    for (const change of states) {
      change();
      compare(own);
      seen.add(told(file, own));
    }
    assert.ok(seen.size >= states.length - 1, `${seen.size} different answers`);
  });
});
