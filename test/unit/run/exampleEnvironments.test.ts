/** The examples of environments run as they are shipped, but shorter. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../../server/rules/load.ts";
import { CharacterTokenizer } from "../../../server/engine/tokenizers/characters.ts";
import { objectHost } from "../../support/objectHost.ts";
import { withoutPython } from "../../support/pythonReward.ts";
import { ofKind, testRun } from "../../support/runFolder.ts";

await objectHost();

const shipped = (name: string): string => resolve("examples/environments", name);

test("guess.ts replies to guesses: turns, replies and components are recorded", async () => {
  const file = shipped("guess.gradus.yaml");
  assert.deepEqual(
    loadConfig(file).diagnostics.filter(({ severity }) => severity !== "info"),
    [],
  );
  const run = testRun(["stages.form.steps=40", "stages.practice.steps=2"], file);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const rows = ofKind(run.records(), "rollout").map(({ row }) => row);
    assert.ok(rows.every(({ failed }) => failed === undefined));
    const replies = new Set(
      rows.flatMap(({ turns = [] }) => turns.filter(({ role }) => role === "user").map(({ text }) => text)),
    );
    assert.ok(replies.has("+") && replies.has("-"), [...replies].join());
    for (const { rewards, played } of rows)
      assert.ok(rewards?.["played"] === 0 || rewards?.["played"] === 1, JSON.stringify({ rewards, played }));
    assert.ok(rows.some(({ played }) => Number(played?.components["guesses"]) > 1));
  } finally {
    run.remove();
  }
});

test(
  "increment.py is scored by its get_reward, though nothing called it",
  { skip: withoutPython },
  async () => {
    const file = shipped("increment.gradus.yaml");
    assert.deepEqual(
      loadConfig(file).diagnostics.filter(({ severity }) => severity !== "info"),
      [],
    );
    const run = testRun(
      ["rollout.max_tokens=4", "stages.practice.steps=1", "curriculum.admission=none"],
      file,
    );
    try {
      assert.equal(await run.work(), 0, run.ending());
      const rows = ofKind(run.records(), "rollout");
      assert.ok(rows.length > 0);
      for (const { row, columns } of rows) {
        assert.deepEqual([row.rewards?.["played"], row.failed], [0, undefined]);
        const read = new CharacterTokenizer().decode(columns.context ?? []);
        assert.match(
          read,
          /"name":"increment","description":"Increment the internal counter\.".*counter to \d/s,
        );
      }
    } finally {
      run.remove();
    }
  },
);
