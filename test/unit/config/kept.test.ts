/** What earlier readings leave for later ones changes no answer: an edited config says what it says when it is read first. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { longConfig } from "../../../bench/longConfig.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { applied, randomEdit } from "../../fuzz/edits.ts";
import { Chance } from "../../fuzz/random.ts";
import { count } from "../../support/thorough.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-kept-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "long.gradus.yaml");

/** Everything that a reading tells, whatever the file is called. */
function told(path: string, text: string): { readonly said: string; readonly failed: boolean } {
  const { config, diagnostics, tree, origins, readable } = loadConfig(path, { text });
  const stages = config?.stages;
  const said = JSON.stringify({ diagnostics, tree, origins, readable, stages }, (key, value: unknown) =>
    key === "declaration" ? undefined : value,
  );
  return { said: said.replaceAll(/\bfresh\d+\b/g, "long"), failed: config === undefined };
}

let others = 0;
/** Of a file that nobody has read before nothing can be known. */
const fresh = (text: string): string => told(join(folder, `fresh${(others += 1)}.gradus.yaml`), text).said;

/** Whether the text has an error. */
function compare(text: string, when: string): boolean {
  const { said, failed } = told(file, text);
  const first = fresh(text);
  // Told in full only where they differ: there is much of it.
  if (said !== first) assert.deepEqual(JSON.parse(said), JSON.parse(first), `${when}:\n${text}`);
  return failed;
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

const edits: readonly ((text: string, chance: Chance) => string)[] = [
  (before, chance) => applied(before, randomEdit(before, chance, [text])),
  (before, chance) => changedNumber(before, chance),
  (before, chance) => changedNumber(before, chance),
  (before, chance) => before.replace(`stage${chance.below(30)}\n`, `stage${chance.below(30)}\n`),
  (before, chance) => before.replace("extends: sec", `extends: ${chance.of(["grpo", "sec", "dapo"])}`),
  (before, chance) => `# ${chance.below(9)}\n${before}`,
];

function changedNumber(before: string, chance: Chance): string {
  const numbers = [...before.matchAll(/(?<=[ [])\d+/g)];
  const { index, 0: number } = chance.of(numbers);
  return `${before.slice(0, index)}${chance.of([1, 2, 4, 5, 100, "x"])}${before.slice(index + number.length)}`;
}

describe("a config that is read again", () => {
  it("says after each of many random edits what a first reading says", () => {
    const number = count(60, 200);
    const chance = new Chance(11);
    let now = text;
    let whole = 0;
    assert.ok(!compare(text, "at first"));
    for (let edit = 0; edit < number; edit++) {
      const next = chance.of(edits)(now, chance);
      const wrong = compare(next, `edit ${edit}`);
      if (!wrong) whole += 1;
      // A person mends most mistakes before making the next.
      if (!wrong || chance.below(4) === 0) now = next;
      if (edit % 20 === 19) now = text;
    }
    assert.ok(whole > number / 5, `${whole} of the texts were without an error`);
  });

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
      compare(own, "with other files");
      seen.add(told(file, own).said);
    }
    assert.ok(seen.size >= states.length - 1, `${seen.size} different answers`);
  });
});
