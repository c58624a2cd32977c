import assert from "node:assert/strict";
import { test } from "node:test";
import { stageSteps } from "../../../server/daemon/config/stageSteps.ts";
import { UserError } from "../../../shared/lib/errors.ts";

const file = "/project/a.gradus.yaml";
const authored = `tasks: [{ env: countdown }]
stages:
  - name: warm-up # before rewards
    kind: sft
    steps: 300  # a while
  - { name: full, kind: rl, steps: 120 }
  - name: late
    steps: *long
`;
const change = { text: authored, was: 300, stage: "warm-up", steps: 310 };
const applied = (changes: Partial<typeof change>): string => {
  const { range, newText } = stageSteps({ file, authored }, { ...change, ...changes });
  const lines = authored.split("\n");
  assert.equal(range.start.line, range.end.line);
  const line = lines[range.start.line]!;
  return line.slice(0, range.start.character) + newText + line.slice(range.end.character);
};
const refused = (changes: Partial<typeof change>, message: RegExp): void =>
  assert.throws(
    () => stageSteps({ file, authored }, { ...change, ...changes }),
    (error: unknown) => {
      assert.ok(error instanceof UserError);
      assert.match(error.message, message);
      assert.ok(error.detail.action !== undefined && error.detail.file === file);
      return true;
    },
  );

test("a stage's number of steps is replaced in its place, and nothing else", () => {
  assert.equal(applied({}), "    steps: 310  # a while");
  assert.equal(applied({ stage: "full", was: 120, steps: 7 }), "  - { name: full, kind: rl, steps: 7 }");
});

test("a config that has been changed since the run is left alone, and so is a number from elsewhere", () => {
  refused({ text: `${authored}\n` }, /changed since this run/);
  refused({ was: 200 }, /does not set the 200 steps of stage warm-up/);
  refused({ stage: "late", was: 9 }, /as a number/);
  refused({ stage: "none" }, /stage none/);
});
