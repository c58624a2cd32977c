/** Memory: what is predicted against what a process really holds, what is refused, and that nothing stays behind. */
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import { batchOfSamples } from "../../../server/core/rows/sampledRows.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import type { RunConfig } from "../../../server/core/config/runConfig.ts";
import { interruption } from "../../../server/daemon/runs/interruption.ts";
import { checkMemory } from "../../../server/cli/doctor/memory.ts";
import {
  admitMemory,
  isOutOfMemory,
  memoryAdvice,
  planMemory,
} from "../../../server/analysis/memory/estimate.ts";
import type { KeptRow } from "../../../server/methods/replay/keptRow.ts";
import { Memory } from "../../../server/methods/replay/memory.ts";
import { keptRow } from "../../../server/run/step/replay/keptRows.ts";
import type { RewardColumn } from "../../../server/core/reward.ts";
import { work } from "../../../server/run/loop/worker.ts";
import { minimal, ofKind, testRun } from "../../support/runFolder.ts";
import { needs } from "../../support/system.ts";
import { some } from "../../support/thorough.ts";
import { bytesOf, memorySize } from "../../../server/core/blocks/engine.ts";

/** This file is its own child: one run in one process, whose peak is then its own. */
const own = process.env["GRADUS_MEMORY_RUN"];
if (own !== undefined) {
  const code = await work({ folder: own, attempt: 0, version: "0.0.0" });
  process.send?.({ peak: process.resourceUsage().maxRSS * 1024, code });
  process.exit(0);
}

const countdown = resolve("examples/countdown/countdown.gradus.yaml");
/** Few steps of the example, in which every rollout trains: rewards differ within every group. */
const short = [
  "stages.warm-up.steps=3",
  "stages.practice.steps=2",
  "evaluation={ prompts: 8, pass_at: [1] }",
  "reward.terms.brevity=null",
  "reward.terms.size={ use: length, shape: group_relative }",
  "curriculum.admission=none",
];
/** 10.6 million parameters. */
const large = ["model.width=320", "model.layers=8", "model.heads=8", "model.hidden=960"];
const threads = "engine.threads=2";

function load(file: string, set: readonly string[] = []): RunConfig {
  const { config, diagnostics } = loadConfig(file, { set });
  assert.ok(config, diagnostics.map(({ message }) => message).join());
  return config;
}

async function measuredPeak(set: readonly string[]): Promise<number> {
  const run = testRun(set, countdown);
  try {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const child = fork(fileURLToPath(import.meta.url), [], {
      env: {
        ...env,
        GRADUS_MEMORY_RUN: run.folder,
        TF_NUM_INTRAOP_THREADS: set.includes(large[0]!) ? "2" : "1",
        TF_NUM_INTEROP_THREADS: "2",
      },
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const [message] = z
      .tuple([z.object({ peak: z.number(), code: z.number() })])
      .parse((await once(child, "message")).slice(0, 1));
    assert.equal(message.code, 0, run.ending());
    return message.peak;
  } finally {
    run.remove();
  }
}

/** The large model on few rollouts. */
const wide = [...short, ...large, threads, "rollout.prompts=8", "stages.warm-up.batch=16"];
const teacher = "base: tiny, width: 320, layers: 8, heads: 8, hidden: 960, context: 64, tied: true";

const peaks: readonly (readonly [what: string, set: readonly string[]])[] = [
  ["the example's 0.9 million parameters", [...short, threads]],
  [
    "a critic, and demonstrations with an optimiser of their own",
    [
      ...wide,
      "model.value_heads=[value]",
      "advantage={ baseline: critic, scale: none }",
      "objective.value={ use: value_clipped }",
      "auxiliary=[{ use: sft, rows: 16, place: alone, optimizer: { use: adamw, lr: 1.0e-4 } }]",
    ],
  ],
  [
    "a reward model that learns next to the policy",
    [
      ...wide,
      `models={ prm: { ${teacher}, trains: true, optimizer: { use: adamw, lr: 1.0e-4 } } }`,
      "reward.terms.process={ use: implicit_prm, model: prm }",
    ],
  ],
  [
    "a reward model that is much larger than the policy",
    [
      ...short,
      threads,
      `models={ prm: { ${teacher}, trains: true, optimizer: { use: adamw, lr: 1.0e-4 } } }`,
      "reward.terms.process={ use: implicit_prm, model: prm }",
    ],
  ],
  ["10.6 million parameters", wide],
];
// One process a case, tens of seconds each.
for (const [what, set] of some(peaks, 1))
  test(`the predicted peak is within a quarter of the measured one: ${what}`, needs.peak, async () => {
    const { peak, prediction } = planMemory(load(countdown, set));
    const measured = await measuredPeak(set);
    const ratio = peak / measured;
    assert.ok(
      ratio > 0.75 && ratio < 1.25,
      `${(peak / 2 ** 20).toFixed(0)} MiB predicted, ${(measured / 2 ** 20).toFixed(0)} measured: ${JSON.stringify(prediction)}`,
    );
  });

/** What the process holds of objects and arrays, after everything unneeded is gone. */
function held(): number {
  setFlagsFromString("--expose_gc");
  const collect: unknown = runInNewContext("gc");
  assert.ok(typeof collect === "function");
  for (let i = 0; i < 3; i++) collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

for (const max_tokens of [20, 512])
  test(`what replay keeps is predicted within a quarter of what it holds, a checkpoint being written: ${max_tokens} tokens`, () => {
    const kept = 2048;
    const set = [
      `replay={ use: window, capacity: ${kept} }`,
      `rollout.max_tokens=${max_tokens}`,
      "model.context=640",
    ];
    const { prediction } = planMemory(load(countdown, set));
    const terms = ["correct", "brevity"];
    const before = held();
    const memory = new Memory(kept, undefined);
    for (let step = 0; step < kept / 64; step++)
      memory.keep(keptRows(64, max_tokens, terms, step), () => true, step);
    const saved = memory.save();
    const ratio = prediction.replay / (held() - before);
    assert.ok(ratio > 0.75 && ratio < 1.25, `${ratio}: ${prediction.replay} bytes predicted`);
    assert.ok(memory.full && saved.arrays !== undefined);
  });

/** Rollouts of one step, as a run keeps them. */
function keptRows(rows: number, length: number, terms: readonly string[], step: number): KeptRow[] {
  const column = (): Float64Array => Float64Array.from({ length }, Math.random);
  const batch = batchOfSamples(
    Array.from({ length: rows }, (_, i) => ({
      record: {
        task: {
          id: `${step}/${i}`,
          source: "countdown",
          env: "countdown",
          prompt: `${step}?`,
          data: { numbers: [i, step], target: 24 },
        },
        arm: "countdown/3",
        group: `${step}/${i >> 3}`,
        index: i & 7,
        prompt: `${step}?`,
        response: `${step}+${i}`.repeat(length).slice(0, length),
        finish: "stop" as const,
        source: "self" as const,
        use: "train" as const,
      },
      sample: {
        tokens: new Int32Array(length),
        logp_old: column(),
        logp_sampled: column(),
        entropy: column(),
        versions: new Int32Array(length),
      },
      context: new Int32Array(16),
    })),
  );
  const paid = (name: string): RewardColumn => ({
    name,
    level: "response",
    offsets: Int32Array.from({ length: rows + 1 }, (_, row) => row),
    values: new Float64Array(rows),
    status: new Uint8Array(rows),
    errors: new Map(),
  });
  const total = new Float64Array(rows);
  const scored = {
    rewards: { terms: terms.map(paid), weights: terms.map(() => 1) },
    combined: { sources: [], total, errored: new Uint8Array(rows) },
    success: new Uint8Array(rows),
  };
  const size = batch.tokens.length;
  const advantages = { tokens: new Float64Array(size), exists: new Uint8Array(size).fill(1), rows: total };
  const collected = { batch, scored, dropped: new Set<number>() };
  return Array.from(total, (_, row) => keptRow(collected, advantages, row, step, `${step}/${row >> 3}`));
}

test("replay and optimisers of auxiliary losses are counted, and the advice for replay is its capacity", () => {
  const at = (...set: string[]) => planMemory(load(countdown, [threads, ...set])).prediction;
  const plain = at();
  const own = (optimizer: string) =>
    at(`auxiliary=[{ use: sft, place: alone, optimizer: ${optimizer} }]`).optimizer;
  assert.equal(own("adamw") - plain.optimizer, plain.optimizer, "as much again as the policy's own AdamW");
  assert.equal(own("{ use: sgd, lr: 0.1 }"), plain.optimizer);
  assert.equal(plain.replay, 0);
  const [some, more] = [1e4, 2e4].map(
    (capacity) => at(`replay={ use: window, capacity: ${capacity} }`).replay,
  );
  assert.ok(some! > 0 && more === 2 * some!);
  const config = load(countdown, [threads, "replay={ use: window, capacity: 1000000 }"]);
  assert.match(memoryAdvice(config), /^Lower replay\.capacity to 500000 \(1000000 now\)/);
});

test("what auxiliary losses remember is counted, and the advice is the largest memory", () => {
  const kept = (auxiliary: string): number =>
    planMemory(load(countdown, [threads, auxiliary])).prediction.replay;
  for (const loss of ["use: corrections", "use: sft, data: successes"]) {
    const [some, more] = [1e4, 2e4].map((capacity) => kept(`auxiliary=[{ ${loss}, capacity: ${capacity} }]`));
    assert.ok(some! > 0 && more === 2 * some!, loss);
  }
  assert.equal(kept("auxiliary=[{ use: sft, capacity: 10000 }]"), 0, "solutions stand in the tasks");
  const both = [
    threads,
    "replay={ use: window, capacity: 64 }",
    "auxiliary=[{ use: corrections, capacity: 2000000 }]",
  ];
  assert.match(
    memoryAdvice(load(countdown, both)),
    /^Lower auxiliary\.0\.capacity to 1000000 \(2000000 now\)/,
  );
});

test("rollouts that are replayed, and demonstrations next to them, are rows of the update", () => {
  const activations = (...set: readonly string[]): number =>
    planMemory(load(minimal, [threads, "rollout.prompts=256", ...set])).prediction.activations;
  const half = "replay={ use: window, share: 0.5, updates: 2";
  // As many again as the step's own, whose values its one update need not compute.
  const twice = activations(`${half} }`);
  assert.equal(twice, activations("rollout.prompts=512", "update.epochs=2"));
  assert.equal(activations(`${half}, place: separate }`), twice);
  assert.equal(activations(`${half}, place: alone }`), activations("update.epochs=2"));
  assert.equal(
    activations("auxiliary=[{ use: sft, rows: 512 }]"),
    activations("rollout.prompts=384", "update.epochs=2"),
  );
});

test("a tighter limit cuts the work finer, never what the config says itself", () => {
  const at = (...set: string[]) => planMemory(load(countdown, [...large, threads, ...set]));
  const ample = at("engine.memory=64GiB");
  assert.equal(ample.budget.micro_tokens, 2048);
  let before = ample;
  for (const limit of ["2GiB", "1.5GiB", "1.2GiB", "0.9GiB"]) {
    const plan = at(`engine.memory=${limit}`);
    assert.ok(plan.fits, limit);
    assert.ok(plan.peak <= plan.limit.bytes);
    assert.ok(plan.peak < before.peak && plan.budget.kept_bytes <= before.budget.kept_bytes);
    before = plan;
  }
  assert.ok(before.budget.micro_tokens < 2048);
  assert.equal(at("engine.memory=0.9GiB", "update.micro_tokens=777").budget.micro_tokens, 777);
});

test("more of anything that counts is predicted to need more", () => {
  const peak = (...set: string[]): number =>
    planMemory(load(countdown, ["engine.memory=64GiB", threads, ...set])).peak;
  const base = peak();
  for (const more of [
    "kl=[{ model: reference }]",
    "model.layers=6",
    "rollout.prompts=128",
    "stages.warm-up.batch=512",
    "model.tied=false",
  ])
    assert.ok(peak(more) > base, more);
  for (const less of [
    "update.optimizer.use=sgd",
    "update.optimizer.use=adafactor",
    "update.optimizer.use=lion",
  ])
    assert.ok(peak(less) < base, less);
});

test("perceptrons and what penalties remember are counted, to the byte", () => {
  const planned = (...set: readonly string[]) => planMemory(load(minimal, set));
  const [plain, beside] = [
    planned(),
    planned(
      "models={ big: { kind: mlp, inputs: 512, widths: [1024], trains: true, optimizer: adamw }, slow: { ema: { of: big } } }",
      "rollout.repetition_penalty=1.2",
      "rollout.presence_penalty=0.1",
    ),
  ];
  const own = 4 * (512 * 1024 + 1024 + 1024 + 1);
  const more = (name: keyof typeof plain.prediction): number =>
    beside.prediction[name] - plain.prediction[name];
  assert.equal(more("weights"), own);
  assert.equal(more("snapshots"), own);
  assert.equal(more("optimizer"), 2 * own);
  assert.equal(more("step"), 4 * own);
  // 16 lanes, two marks for each of the 99 characters.
  assert.equal(more("caches"), 4 * 16 * 2 * 99);
  assert.equal(beside.peak - plain.peak, 8 * own + 4 * 16 * 2 * 99);
});

test("helped rollouts that join their groups are counted like those of larger groups", () => {
  const planned = (...set: readonly string[]) =>
    planMemory(load(minimal, [threads, "rollout.prompts=256", ...set])).prediction;
  const append = "guidance={ trigger: all_fail, place: append, rollouts: 2 }";
  assert.deepEqual(planned(append), planned("rollout.group=6"));
  assert.deepEqual(planned(append.replace(", rollouts: 2", "")), planned("rollout.group=8"));
  assert.deepEqual(planned("guidance={ trigger: all_fail, rollouts: 2 }"), planned());
  assert.ok(planned("guidance={ trigger: all_fail, context: strip }").activations > planned().activations);
});

test("what cannot fit is refused with its arithmetic, and the value that is named does fit", () => {
  const file = countdown;
  const refused = (set: readonly string[]): UserError => {
    try {
      admitMemory(load(file, set));
    } catch (error) {
      assert.ok(error instanceof UserError);
      return error;
    }
    throw new Error("it was not refused");
  };
  const set = [...large, threads, "engine.memory=700MiB"];
  const error = refused(set);
  assert.equal(error.detail.code, "memory");
  assert.match(
    error.message,
    /needs about \d+ MiB at its peak even with the smallest micro-batches, but may use only 700 MiB \(engine\.memory\): .*process 400 MiB/,
  );
  const [, key, value] =
    /^Lower ([\w.]+) from \d+ to (\d+), for a peak of about [\d.]+ [GM]iB/.exec(error.detail.action!) ?? [];
  assert.ok(key !== undefined && value !== undefined, error.detail.action);
  assert.ok(admitMemory(load(file, [...set, `${key}=${value}`])).fits);
  const [, enough] = /set engine\.memory to (\d+MiB)/.exec(error.detail.action!) ?? [];
  assert.ok(admitMemory(load(file, [...set, `engine.memory=${enough}`])).fits);
  const explicit = refused([...large, threads, "engine.memory=1.2GiB", "update.micro_tokens=16384"]);
  assert.match(explicit.detail.action!, /^Lower update\.micro_tokens from 16384 to \d+/);
});

test("a run that cannot fit ends before its engine is opened", async () => {
  const run = testRun(["engine.memory=10MB"]);
  try {
    assert.equal(await run.work(), 1);
    assert.match(run.ending(), /may use only 10 MiB \(engine\.memory\)|engine\.memory/);
    assert.equal(ofKind(run.records(), "start")[0]!.backend.name, "none");
  } finally {
    run.remove();
  }
});

test("no handle is left behind by any step, and the run charts what it holds", async () => {
  const run = testRun(["kl=[{ model: reference, coefficient: 0.01 }]", "evaluation.every=3"]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const steps = ofKind(run.records(), "metrics").map(({ values }) => values);
    // The addon's own count: 10 supervised steps, then 10 of the policy with the reference next to it.
    for (const [from, to] of [
      [1, 10],
      [11, 20],
    ] as const) {
      const counts = new Set(steps.slice(from, to).map((values) => values["memory/tensors"]));
      assert.equal(counts.size, 1, [...counts].join(", "));
    }
    for (const values of steps) {
      const [rss, peak, predicted] = ["memory/rss", "memory/peak", "memory/predicted"].map((name) =>
        Number(values[name]),
      );
      assert.ok(rss! > 2 ** 26 && peak! >= rss! * 0.99 && predicted! > 2 ** 26);
    }
    // A process that was killed without a word is reported with what was predicted.
    assert.ok(existsSync(join(run.folder, "memory.json")));
    assert.match(interruption("test", run.folder), /about \d+ MiB\). If that happened: Lower /);
  } finally {
    run.remove();
  }
});

test("memory that runs out is recognised, and the advice names a number", () => {
  for (const message of [
    "TensorFlow could not run the backward program: OOM when allocating tensor with shape[8192,49152]",
    "RESOURCE_EXHAUSTED: failed to allocate",
    "std::bad_alloc",
    "Array buffer allocation failed",
  ])
    assert.ok(isOutOfMemory(new Error(message)), message);
  assert.equal(isOutOfMemory(new Error("room for improvement")), false);
  assert.match(
    memoryAdvice(load(countdown, [threads])),
    /^Lower (update\.micro_tokens|rollout\.prompts) to \d+ \(\d+ now\), or set engine\.memory to \d+MiB/,
  );
});

test("sizes are read in both families of units", () => {
  assert.equal(bytesOf("8GiB"), 2 ** 33);
  assert.equal(bytesOf("500 MB"), 5e8);
  assert.equal(bytesOf("1.5gib"), 1.5 * 2 ** 30);
  assert.equal(bytesOf(12345), 12345);
  assert.equal(bytesOf(undefined), undefined);
  for (const wrong of ["8", "8 G", "-1GiB", "GiB", 0])
    assert.equal(memorySize.safeParse(wrong).success, false, String(wrong));
});

test("the doctor says what there is, and what a config needs of it", () => {
  assert.match(checkMemory(undefined).detail, /^a run may take [\d.]+ GiB, 80 % of this machine's/);
  const check = checkMemory(minimal);
  assert.equal(check.status, "ok");
  assert.match(check.detail, /needs about \d+ MiB of [\d.]+ GiB: process 400 MiB/);
  const missing = checkMemory("test/fixtures/config/rules/until.gradus.yaml");
  assert.equal(missing.status, "missing");
  assert.match(missing.fix!, /^gradus validate /);
});
