/**
 * test/fixtures/frameworks/verlAccepts.json: launches drawn at random, and whether verl 0.9.1 itself takes them, as far as
 * it can be asked without GPUs (verlAccepts.py next to it says what is asked).
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import type { Diagnostic } from "../../../server/config/check/diagnostic.ts";
import { diagnosed } from "../../support/frameworkFixture.ts";

interface Row {
  readonly accepted: boolean;
  readonly overrides: readonly string[];
}
const { release, rows }: { release: string; rows: readonly Row[] } = JSON.parse(
  readFileSync("test/fixtures/frameworks/verlAccepts.json", "utf8"),
);

/** What verl finds out later: when workers start, models are split, or rollouts are there. */
const later = new Set([
  "verl-rollout-parallel",
  "verl-mini-batch-per-gpu",
  "verl-mini-batch-remainder",
  "verl-log-prob-share",
  "verl-critic-off",
]);

function errors({ overrides }: Row): readonly Diagnostic[] {
  const text = `# verl ${release}\npython3 -m verl.trainer.main_ppo \\\n    ${overrides.join(" \\\n    ")}\n`;
  return (diagnosed("/nowhere/run.sh", text) ?? []).filter(({ severity }) => severity === "error");
}

describe(`what verl ${release} takes`, () => {
  it("is no error before the workers start", () => {
    const taken = rows.filter(({ accepted }) => accepted);
    assert.ok(taken.length >= 40);
    for (const row of taken)
      assert.deepEqual(
        errors(row)
          // Megatron itself refuses them, where verl's dynamic batches do not ask.
          .filter(({ rule }) => !later.has(rule) && rule !== "verl-megatron-parallel")
          .map(({ message }) => message),
        [],
        row.overrides.join(" "),
      );
  });

  it("else is an error", () => {
    const refused = rows.filter(({ accepted }) => !accepted);
    assert.ok(refused.length >= 100);
    for (const row of refused)
      assert.ok(
        errors(row).some(({ rule }) => !later.has(rule)),
        row.overrides.join(" "),
      );
  });
});
