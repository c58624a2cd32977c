/** Values set on a live run: what holds, what is refused, and what a resumed run knows of it. */
import assert from "node:assert/strict";
import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ofKind, testRun } from "../../support/runFolder.ts";

const line = (id: string, path: string, value: unknown): string =>
  `${JSON.stringify({ id, action: "set", path, value })}\n`;

test("a learning rate, a weight and `until` hold from the next step on, and after a resume", async () => {
  const run = testRun(["checkpoint.keep=9", "stages.warm-up.steps=2"]);
  try {
    appendFileSync(
      join(run.folder, "control.jsonl"),
      line("lr", "stages.practice.update.optimizer.lr", 0.00025) +
        line("weight", "reward.terms.correct.weight", 3) +
        line("heat", "rollout.temperature", { schedule: "linear", from: 1, to: 0.5, over: 10 }) +
        line("until", "stages.practice.until", {
          metric: "rollout/length",
          above: 0,
          window: 1,
          patience: 6,
        }),
    );
    assert.equal(await run.work(), 0, run.ending());
    const records = run.records();
    assert.deepEqual(
      ofKind(records, "acknowledge").map(({ id, accepted }) => [id, accepted]),
      [
        ["lr", true],
        ["weight", true],
        ["heat", true],
        ["until", true],
      ],
    );
    const [event] = ofKind(records, "event").filter(({ name }) => name === "set");
    assert.match(event!.message, /practice\.update\.optimizer\.lr is 0\.00025 from step 0 on/);
    assert.deepEqual(event!.data, { id: "lr", path: "stages.practice.update.optimizer.lr", value: 0.00025 });
    const metrics = ofKind(records, "metrics");
    const rates = metrics.map(({ values }) => values["update/lr"]);
    assert.deepEqual(rates.slice(0, 2), [0.005, 0.005], "the warm-up has its own");
    assert.ok(rates.slice(2).every((rate) => rate === undefined || rate === 0.00025));
    assert.equal(metrics.length, 2 + 6, "`until` ends the stage");
    const paid = metrics.slice(2).map(({ values }) => [values["reward/total"], values["reward/correct"]]);
    assert.ok(paid.every(([total, correct]) => Math.abs(Number(total) - 3 * Number(correct)) < 1e-9));
    assert.match(readFileSync(join(run.folder, "settings.jsonl"), "utf8"), /"path":"rollout.temperature"/);

    rmSync(join(run.folder, "checkpoints", "7"), { recursive: true });
    assert.equal(await run.work(1), 0, run.ending(1));
    const again = run.records(1);
    assert.ok(ofKind(again, "event").some(({ name }) => name === "settings-kept"));
    assert.ok(!ofKind(again, "event").some(({ name }) => name === "config-changed"));
    assert.equal(ofKind(again, "metrics").at(-1)!.step, 7);
    assert.deepEqual(
      ofKind(again, "metrics").map(({ values }) => values["update/grad_norm"]),
      metrics.slice(-ofKind(again, "metrics").length).map(({ values }) => values["update/grad_norm"]),
    );
  } finally {
    run.remove();
  }
});

test("what cannot change, is no value there, or changes nothing is refused with the reason", async () => {
  const run = testRun(["stages.warm-up.steps=1", "stages.practice.steps=1"]);
  try {
    appendFileSync(
      join(run.folder, "control.jsonl"),
      line("model", "model.width", 64) +
        line("value", "update.optimizer.lr", "fast") +
        line("same", "rollout.temperature", 1) +
        line("name", "stages.nobody.until", { metric: "rollout/length", above: 1 }) +
        line("metric", "stages.practice.until", { metric: "rollout/lenght", above: 1 }),
    );
    assert.equal(await run.work(), 0, run.ending());
    const answers = new Map(
      ofKind(run.records(), "acknowledge").map(({ id, accepted, message }) => [id, [accepted, message]]),
    );
    for (const [id, reason] of [
      ["model", /model\.width cannot change while a run is live/],
      ["value", /lr.* must be/],
      ["same", /rollout\.temperature is 1 already/],
      ["name", /no stage named `nobody`/],
      ["metric", /Did you mean `rollout\/length`/],
    ] as const) {
      assert.equal(answers.get(id)?.[0], false, id);
      assert.match(String(answers.get(id)?.[1]), reason);
    }
    assert.equal(ofKind(run.records(), "event").filter(({ name }) => name === "set-refused").length, 5);
  } finally {
    run.remove();
  }
});
