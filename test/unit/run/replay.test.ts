/** Replay and auxiliary losses in whole runs: what is trained on, what is logged, and that a resumed run is the same. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { LogRecord } from "../../../shared/log/records.ts";
import { essence, ofKind, testRun, type TestRun } from "../../support/runFolder.ts";
import { inLong } from "../../support/thorough.ts";

type Values = Readonly<Record<string, number | string | null>>;

const metricsOf = (run: TestRun, from = 10): Values[] =>
  ofKind(run.records(), "metrics")
    .filter(({ step }) => step >= from)
    .map(({ values }) => values);

/** Something to be distinguished by from the first step on: a response's length. */
const brief = "reward.terms={ brief: { use: length, shape: linear } }";

async function finished(...set: readonly string[]): Promise<TestRun> {
  const run = testRun(set);
  assert.equal(await run.work(), 0, run.ending());
  return run;
}

/** Takes the last checkpoint away and runs on from the one before it: everything after must be as it was. */
async function sameAgain(run: TestRun): Promise<void> {
  const whole: readonly LogRecord[] = run.records();
  rmSync(join(run.folder, "checkpoints", "19"), { recursive: true });
  assert.equal(await run.work(1), 0, run.ending(1));
  assert.deepEqual(essence(run.records(1), 15), essence(whole, 15));
}

test("a window of earlier rollouts fills, ages, is drawn by share, logged as replay, and resumes exactly", async () => {
  const run = await finished(
    "replay={ use: window, capacity: 40, max_age: 3, share: 0.5, draw: { use: priority, beta: 1 }, updates: 2 }",
    "kl=[{ model: reference, coefficient: 0.001 }]",
    "checkpoint.keep=9",
  );
  try {
    const steps = metricsOf(run);
    assert.equal(steps[0]!["replay/rows"], 0);
    assert.equal(steps[1]!["replay/rows"], 32, "two rounds of as many as the 16 fresh ones");
    assert.ok(steps.every((values) => Number(values["replay/size"]) <= 40));
    assert.ok(
      steps
        .slice(1)
        .every((values) => Number(values["replay/age"]) >= 1 && Number(values["replay/age"]) <= 3),
    );
    const replayed = ofKind(run.records(), "rollout").filter(({ row }) => row.source === "replay");
    assert.equal(replayed.filter(({ step }) => step === 11).length, 32);
    assert.ok(
      replayed.every(({ row, columns }) => row.group.startsWith("replay/") && columns.versions !== undefined),
    );
    await sameAgain(run);
  } finally {
    run.remove();
  }
});

inLong(
  "recomputed groups, recalibrated rewards, bursts of what selection left out, and losses kept apart",
  async () => {
    for (const replay of [
      "{ use: window, rescore: { use: recomputed, terms: again }, place: separate, weight: 0.5 }",
      "{ use: window, rescore: recalibrated, admission: advantage, place: alone, every: 2 }",
      "{ use: window, capacity: 12, burst: true, admission: leftovers, select: { use: best_worst, statistics: kept }, place: alone }",
    ]) {
      const run = await finished(`replay=${replay}`, brief);
      try {
        const steps = metricsOf(run);
        assert.ok(
          steps.some((values) => Number(values["replay/rows"]) > 0),
          replay,
        );
        assert.ok(
          steps.every((values) => Number.isFinite(Number(values["update/loss"] ?? 0))),
          replay,
        );
        if (replay.includes("separate"))
          assert.ok(
            steps.some(
              (values) => Number(values["loss/replay"]) !== 0 && values["loss/replay"] !== undefined,
            ),
          );
        if (replay.includes("every"))
          assert.ok(steps.every((values, step) => step % 2 === 0 || values["replay/rows"] === 0));
        if (replay.includes("best_worst")) {
          const rows = ofKind(run.records(), "rollout").filter(
            ({ step, row }) => step === 10 && row.source === "self",
          );
          assert.equal(rows.filter(({ row }) => row.admitted).length, 8, "two of the four of each group");
        }
      } finally {
        run.remove();
      }
    }
  },
);

test("rollouts of a file train next to fresh ones, read by the tokenizer where they have only text", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-replay-"));
  const file = join(folder, "demos.jsonl");
  const row = (index: number, more: object): string =>
    JSON.stringify({
      step: 0,
      group: "a",
      index,
      prompt: "ab=",
      response: "ba",
      rewards: { correct: index },
      ...more,
    });
  writeFileSync(file, [row(0, {}), row(1, {})].join("\n"));
  try {
    const run = await finished(
      `replay={ use: file, path: ${JSON.stringify(file)}, rescore: recomputed, share: 0.2 }`,
    );
    try {
      assert.ok(
        metricsOf(run).every(
          (values) => Number(values["replay/rows"]) === 4 || Number(values["replay/rows"]) === 2,
        ),
      );
      const [first] = ofKind(run.records(), "rollout").filter(({ row }) => row.source === "replay");
      assert.equal(first!.columns.tokens!.length, 3, "two letters and the end");
      assert.equal(Math.abs(Number(first!.row.advantage)), 1, "leave-one-out of 0 and 1");
    } finally {
      run.remove();
    }
    const without = testRun([`replay={ use: file, path: ${JSON.stringify(file)} }`]);
    assert.equal(await without.work(), 1);
    assert.match(without.ending(), /rescore: recorded needs "advantages"/);
    without.remove();
    writeFileSync(file, row(0, { response: undefined }));
    const broken = testRun([`replay={ use: file, path: ${JSON.stringify(file)}, rescore: recomputed }`]);
    assert.equal(await broken.work(), 1);
    assert.match(broken.ending(), /neither "response" nor "tokens"/);
    broken.remove();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("replayed rollouts of which none has an advantage are reported, once in ten steps, with what to set", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-unusable-"));
  const file = join(folder, "log.jsonl");
  const written = (terms: (index: number) => object): void =>
    writeFileSync(
      file,
      [0, 1]
        .map((index) =>
          JSON.stringify({ step: 0, group: "a", index, prompt: "ab=", response: "ba", ...terms(index) }),
        )
        .join("\n"),
    );
  const told = async (rescore: string) => {
    const run = await finished(
      `replay={ use: file, path: ${JSON.stringify(file)}, rescore: ${rescore}, share: 0.2 }`,
    );
    try {
      const events = ofKind(run.records(), "event").filter(({ name }) => name === "replay-unusable");
      return { events, steps: metricsOf(run).length };
    } finally {
      run.remove();
    }
  };
  try {
    // The term failed on one of the two, and the other has nothing to be compared with.
    written((index) => ({ rewards: { correct: index === 0 ? 1 : null } }));
    const { events, steps } = await told("recomputed");
    assert.equal(events.length, Math.ceil(steps / 10));
    const [first] = events;
    assert.equal(first?.severity, "warning");
    assert.match(first.message, /^None of the \d+ replayed rollouts of this step has an advantage/);
    assert.match(JSON.stringify(first), /rescore: \{ use: recomputed, terms: again \}/);
    written((index) => ({ rewards: { correct: index } }));
    assert.deepEqual((await told("recomputed")).events, []);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("solutions of tasks that failed throughout are learned by an optimiser of their own, and a resumed run is the same", async () => {
  const run = await finished(
    "auxiliary=[{ use: sft, when: { all_failed: 3 }, place: alone, optimizer: { use: adamw, lr: 1.0e-2 } }]",
    "stages.warm-up.steps=10",
    "stages.warm-up.batch=1",
    "checkpoint.keep=9",
  );
  try {
    const steps = metricsOf(run);
    const taught = steps.filter((values) => values["loss/sft"] !== undefined);
    assert.ok(taught.length >= 3, `${taught.length} supervised steps`);
    assert.ok(steps.some((values) => Number(values["auxiliary/sft/waiting"]) > 0));
    assert.ok(Number(taught.at(-1)!["loss/sft"]) < Number(taught[0]!["loss/sft"]), "it learns");
    await sameAgain(run);
  } finally {
    run.remove();
  }
});

test("imitation and reinforcement share a step by the policy's entropy and by gradients", async () => {
  const run = await finished(
    "auxiliary=[{ use: sft, rows: 4 }, { use: mixing, start: 0.5, entropy_rate: 0, meta_rate: 1.0e+4, every: 2 }]",
    "checkpoint.keep=9",
  );
  try {
    const shares = metricsOf(run).map((values) => Number(values["loss/sft/weight"]));
    metricsOf(run).forEach((values, i) =>
      assert.ok(Math.abs(Number(values["loss/policy/weight"]) + shares[i]! - 1) < 1e-12),
    );
    // The first update's rate is not known before it; then every second step compares.
    assert.deepEqual([shares[0], shares[1]], [0.5, 0.5]);
    assert.notEqual(shares[2], 0.5);
    assert.equal(shares[3], shares[2]);
    await sameAgain(run);
  } finally {
    run.remove();
  }
});

inLong(
  "likelihood, text and reweighting join the policy's own steps; successes close a stage; privacy clips and adds noise",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "gradus-text-"));
    writeFileSync(join(folder, "text.txt"), "abba abab baab ".repeat(20));
    const text = JSON.stringify(join(folder, "text.txt"));
    const run = await finished(
      `auxiliary=[{ use: sft, rows: 4, entropy: 0.01, weight: 0.1 }, { use: next_token, path: ${text}, rows: 2, length: 8, weight: { schedule: linear, from: 0, to: 0.1, over: 3 } }, { use: sft, data: successes, rows: 4, when: { last: 3 }, place: alone }, { use: recap, window: 2 }]`,
      "replay={ use: window, share: 0.25 }",
      "checkpoint.keep=9",
    );
    try {
      const steps = metricsOf(run);
      assert.ok(steps.every((values) => values["loss/sft"] !== undefined));
      assert.equal(steps[0]!["loss/next_token"], undefined, "a weight of 0 costs nothing");
      assert.ok(steps.slice(1).every((values) => values["loss/next_token"] !== undefined));
      assert.ok(steps.some((values) => values["loss/policy/weight"] !== undefined));
      await sameAgain(run);
    } finally {
      run.remove();
      rmSync(folder, { recursive: true });
    }
    const quiet = await finished(
      "stages.practice.steps=3",
      brief,
      "auxiliary=[{ use: privacy, clip: 1.0e-3, noise: 0 }]",
    );
    const noisy = await finished(
      "stages.practice.steps=3",
      brief,
      "auxiliary=[{ use: privacy, clip: 1.0e-3, noise: 2 }]",
    );
    try {
      const norms = metricsOf(quiet).map((values) => Number(values["update/grad_norm"]));
      assert.ok(
        norms.every((norm) => norm <= 16 * 1e-3 + 1e-9),
        norms.join(),
      );
      const spent = metricsOf(noisy).map((values) => Number(values["privacy/epsilon"]));
      assert.ok(spent[0]! > 0 && spent[1]! > spent[0]!, spent.join());
      assert.equal(metricsOf(quiet)[0]!["update/loss"], metricsOf(noisy)[0]!["update/loss"]);
      assert.notDeepEqual(essence(quiet.records(), 11), essence(noisy.records(), 11));
    } finally {
      quiet.remove();
      noisy.remove();
    }
  },
);
