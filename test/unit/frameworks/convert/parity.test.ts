/** What a framework's own functions computed, and what `gradus explain` computes with the converted configuration. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { z } from "zod";
import { loadConfig } from "../../../../server/rules/load.ts";
import { convert } from "../../../../server/frameworks/trainers/convert.ts";
import { explain, type ExplainedRollout } from "../../../../server/analysis/explain/explain.ts";
import type { RecordedRow } from "../../../../server/analysis/recorded.ts";
import { parseRollout } from "../../../../shared/rollouts/rollouts.ts";
import { some } from "../../../support/thorough.ts";

const numbers = z.array(z.number());
const vectors = z.object({
  versions: z.record(z.string(), z.string()),
  cases: z.array(
    z.object({
      name: z.string(),
      batch: z.string(),
      config: z.string(),
      advantages: z.array(numbers),
      loss: z.number(),
      grad_logp: z.array(numbers),
    }),
  ),
});
type Case = z.output<typeof vectors>["cases"][number];
const rowSchema = z.looseObject({
  group: z.string(),
  index: z.int(),
  mask: z.array(z.number()),
  parts: z.record(z.string(), z.number().nullable()),
});

const fixtures = "test/fixtures/peers";
const batches = z
  .record(z.string(), z.array(rowSchema))
  .parse(JSON.parse(readFileSync(join(fixtures, "rollouts.json"), "utf8")));
const folder = mkdtempSync(join(tmpdir(), "gradus-convert-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Rows as a run records them; with `terms`, each part of the reward is a term of its own. */
function rows({ batch, advantages }: Case, terms: boolean): RecordedRow[] {
  return batches[batch]!.map(({ parts, reward, ...row }, i) => ({
    row: parseRollout(
      JSON.stringify({
        step: 0,
        ...row,
        ...(terms ? { rewards: parts } : { reward }),
        advantages: advantages[i],
      }),
      { file: "rollouts.jsonl", line: i },
    ),
    place: { file: "rollouts.jsonl", line: i },
  }));
}

/** To 1e-5 of the array's largest magnitude; masked tokens are not compared. */
function close(
  found: readonly number[][],
  wanted: readonly number[][],
  masks: readonly number[][],
  what: string,
): void {
  const largest = Math.max(...wanted.flat().map(Math.abs), Number.MIN_VALUE);
  wanted.forEach((row, i) =>
    row.forEach((value, t) => {
      if (masks[i]![t] === 0) return;
      const off = Math.abs(found[i]![t]! - value) / largest;
      assert.ok(off <= 1e-5, `${what}: row ${i} token ${t} is ${found[i]![t]}, and the framework's ${value}`);
    }),
  );
}

function check(one: Case, file: string, set: readonly string[]): void {
  const { config: text } = convert(file, one.config);
  const path = join(folder, "converted.gradus.yaml");
  writeFileSync(path, text);
  const { config, diagnostics } = loadConfig(path, { set, recorded: true });
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message),
    [],
    text,
  );
  const terms = text.includes("accuracy:");
  const made = [...explain(config!, rows(one, terms || config!.top.reward.terms.length > 1))];
  const rollouts = made.filter((line): line is ExplainedRollout => line.type === "rollout");
  const summary = made.find(({ type }) => type === "summary");
  const masks = batches[one.batch]!.map(({ mask }) => mask);
  const column = (key: "advantages" | "grad_logp"): number[][] =>
    rollouts.map((line) => (line[key] ?? []).map(Number));
  close(column("advantages"), one.advantages, masks, "advantages");
  close(column("grad_logp"), one.grad_logp, masks, "grad_logp");
  // The value of SkyRL's dppo has the ratio where ours has the log-prob; their gradients are the same.
  if (one.config.includes("policy_loss_type=dppo")) return;
  const loss = summary?.type === "summary" ? Number(summary.loss) : Number.NaN;
  const scale = Math.max(Math.abs(one.loss), ...one.grad_logp.flat().map(Math.abs));
  assert.ok(Math.abs(loss - one.loss) <= 1e-5 * scale, `loss is ${loss}, and the framework's ${one.loss}`);
}

const files: readonly (readonly [string, string])[] = [
  ["trl_dpo-1.16.0", "dpo.yaml"],
  ["verl-0.9.1", "run.sh"],
  ["trl-1.16.0", "grpo.yaml"],
  ["openrlhf-0.11.1", "run.sh"],
  ["openrlhf-0.11.2", "run.sh"],
  ["skyrl-0.3.0", "run.sh"],
];
for (const [name, file] of files) {
  const { cases } = vectors.parse(JSON.parse(readFileSync(join(fixtures, `${name}.json`), "utf8")));
  describe(`convert, then explain, as ${name} itself`, () => {
    for (const one of some(cases, 30)) {
      it(one.name, () => check(one, file, []));
      it(`${one.name}: the loss alone, on recorded advantages`, () =>
        check(one, file, ["advantage.baseline=given"]));
    }
  });
}
