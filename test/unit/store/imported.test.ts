/** What verl and TRL wrote as a run of the store: placed, read when asked for, refused when it has changed. */
import assert from "node:assert/strict";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { explain, type ExplainedRollout } from "../../../server/analysis/explain/explain.ts";
import { readStep } from "../../../server/analysis/rescore/storedStep.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { runFolder } from "../../../server/store/files.ts";
import { dumpOf, findOutput } from "../../../server/store/imported/findOutput.ts";
import { loadReaders } from "../../../server/store/imported/readers.ts";
import { importRun } from "../../../server/store/imported/importRun.ts";
import { summaryText } from "../../../server/store/imported/importSummary.ts";
import { weightsFrom } from "../../../server/store/imported/rewardWeights.ts";
import { fileStamp, LineScanner } from "../../../server/store/imported/scanLines.ts";
import { ownName } from "../../../server/store/imported/metricNames.ts";
import { readMetrics } from "../../../server/store/imported/trainerMetrics.ts";
import type { Store } from "../../../server/store/store.ts";
import { crc32 } from "../../../shared/log/crc32.ts";
import { close, newStore, values } from "./support.ts";

before(loadReaders);

const text = `name: sums
tasks: [{ env: countdown, numbers: [3] }]
reward: { terms: { answer: { use: equation } } }
rollout: { group: 4 }
steps: 5
`;

/** A store with a copy of a fixture next to it. */
function project(name: string): { folder: string; output: string; open: () => Store; store: Store } {
  const { folder, store, open } = newStore();
  const output = join(folder, "..", "out");
  cpSync(join("test/fixtures/imported", name), output, { recursive: true });
  return { folder, output, store, open };
}
const bring = async (folder: string, output: string, more: { copy?: boolean; config?: boolean } = {}) => {
  const file = join(folder, "..", "sums.gradus.yaml");
  writeFileSync(file, text);
  const loaded = loadConfig(file, { recorded: true }).config!;
  return importRun({
    store: folder,
    folder: output,
    name: undefined,
    copy: more.copy === true,
    config: more.config === false ? undefined : { file, text, set: [], loaded, version: "0.9.1" },
    version: "0.0.0",
    progress: () => undefined,
  });
};
const rolloutsOf = (store: Store, run: string, step?: number) =>
  store.queries.rollouts({ run, tokens: true, limit: 1000, ...(step === undefined ? {} : { step }) });

test("verl's rollouts are a finished run with metrics; a step's rows are made when it is asked for", async () => {
  const { folder, output, store } = project("verl");
  const summary = await bring(folder, output);
  assert.equal(
    summaryText(summary),
    "verl 0.9.1 · 5 steps · 80 rollouts · groups by the first part of uid · advantages computed here by grpo · 1 rollout has no score (NaN): 3.jsonl:7 · missing: log-probs, held-out, reward components",
  );
  store.ingestAll(summary.run);
  const [listed] = store.queries.list({ limit: 10 }).runs;
  assert.deepEqual(
    [listed?.id, listed?.status, listed?.step, listed?.origin?.trainer, listed?.warnings],
    [summary.run, "finished", 5, "verl", undefined],
  );
  assert.deepEqual(values(store, summary.run)?.steps, [1, 2, 3, 4, 5]);
  // What the editor's list of runs shows steps by.
  assert.deepEqual(store.queries.show({ run: summary.run }).stages, [{ step: 1, name: "rl", kind: "rl" }]);
  assert.deepEqual(store.queries.rolloutSteps(summary.run), [1, 2, 3, 4, 5]);
  assert.deepEqual(store.queries.groups({ run: summary.run, by: "arm", names: [], limit: 100 }).groups, []);
  const { rollouts, total } = rolloutsOf(store, summary.run, 2);
  assert.deepEqual([rollouts.length, total], [16, 16]);
  const groups = store.queries.groups({ run: summary.run, by: "arm", names: [], limit: 100 }).groups;
  assert.deepEqual(
    groups.map(({ step, size }) => [step, size]),
    Array.from({ length: 4 }, () => [2, 4]),
  );
  assert.deepEqual(
    groups.map(({ successes }) => successes),
    groups.map(({ group }) => rollouts.filter((row) => row.group === group && row.reward === 1).length),
  );
  assert.equal(store.queries.rolloutPlaces(summary.run, 2).length, 16);
});

test("a step that is scored again needs no rows: its rollouts are read as the file has them", async () => {
  const { folder, output, store } = project("verlOlder");
  const { run } = await bring(folder, output);
  store.ingestAll(run);
  const read = (step: number) =>
    readStep(runFolder(folder, run), step, store.queries.rolloutPlaces(run, step)).rows;
  // The fifth has a line that was being written.
  for (const step of [2, 5]) {
    assert.equal(store.queries.rolloutPlaces(run, step).length, 1);
    const early = read(step);
    const { rollouts } = rolloutsOf(store, run, step);
    assert.equal(store.queries.rolloutPlaces(run, step).length, rollouts.length);
    assert.deepEqual(read(step), early);
    assert.deepEqual(
      early.map(({ group, index, response }) => [group, index, response]),
      rollouts.map(({ group, index, response }) => [group, index, response]),
    );
  }
});

test("advantages are those of `gradus explain`; a rollout whose score is NaN has none", async () => {
  const { folder, output, store } = project("verl");
  const { run } = await bring(folder, output);
  store.ingestAll(run);
  const { rollouts } = rolloutsOf(store, run);
  assert.equal(rollouts.length, 80);
  const { config } = loadConfig(join(folder, "..", "sums.gradus.yaml"), { recorded: true });
  const place = { file: "", line: 0 };
  const explained = [
    ...explain(
      config!,
      rollouts.map((row) => ({ row, place })),
    ),
  ].filter((one): one is ExplainedRollout => one.type === "rollout");
  assert.deepEqual(
    rollouts.map(({ advantage = null }) => advantage),
    explained.map(({ advantage }) => advantage),
  );
  assert.ok(rollouts.some(({ advantage }) => Number(advantage) > 0.4));
  const nan = rollouts.filter(({ reward }) => reward === "NaN");
  assert.deepEqual(
    nan.map(({ advantage, step }) => [advantage, step]),
    [[undefined, 3]],
  );
});

test("without a config there are no advantages, and the summary says so; half a line is left out by name", async () => {
  const { folder, output, store } = project("verlOlder");
  const summary = await bring(folder, output, { config: false });
  assert.match(
    summaryText(summary),
    /79 rollouts · groups by equal input within a step.* · no advantages: name the run's config with --config to compute them · 1 half-written line left out \(5\.jsonl\)/,
  );
  store.ingestAll(summary.run);
  const { rollouts } = rolloutsOf(store, summary.run, 5);
  assert.equal(rollouts.length, 15);
  assert.ok(rollouts.every(({ advantage }) => advantage === undefined));
  const found = store.queries.rollouts({
    run: summary.run,
    where: "rewards.score == 1",
    tokens: false,
    limit: 100,
  });
  assert.ok(found.total > 0);
  for (const { components } of found.rollouts) assert.deepEqual(components, { score: { acc: 1, format: 1 } });
});

test("TRL's rollouts have the advantages that it recorded, and rewards by the weights that its metrics imply", async () => {
  const { folder, output, store } = project("trl");
  const summary = await bring(folder, output, { config: false });
  assert.deepEqual([summary.steps, summary.rollouts, summary.share], [3, 48, { kept: 3, of: 3 }]);
  assert.deepEqual(summary.missing, ["log-probs", "held-out"]);
  store.ingestAll(summary.run);
  const { rollouts } = rolloutsOf(store, summary.run);
  for (const { reward, rewards = {} } of rollouts)
    assert.equal(reward, Number(rewards["digits"]) + 0.5 * Number(rewards["short"] ?? 0));
  const logged = values(store, summary.run)?.values;
  for (const step of [1, 2, 3]) {
    const own = rollouts.filter((row) => row.step === step).map(({ reward }) => Number(reward));
    const mean = own.reduce((sum, reward) => sum + reward, 0) / own.length;
    assert.ok(Math.abs(mean - Number(logged?.[step - 1])) < 1e-5, `step ${step}`);
  }
  rmSync(join(output, "completions", "completions_00002.parquet"));
  const fewer = await bring(folder, output, { config: false });
  assert.match(summaryText(fewer), /TRL · 2 steps · 32 rollouts · of 2 of 3 steps \(66\.7 %\)/);
  assert.doesNotMatch(summaryText(fewer), /repeat/);
  const [first, third] = [1, 3].map((step) => join(output, "completions", `completions_0000${step}.parquet`));
  cpSync(first!, third!);
  assert.match(summaryText(await bring(folder, output, { config: false })), /files repeat rollouts/);
});

test("TRL: the file of a step with an evaluation has the evaluation's rollouts, and nothing trains on them", async () => {
  const { folder, output, store } = project("trl");
  const state = join(output, "trainer_state.json");
  const { log_history: history, ...rest } = JSON.parse(readFileSync(state, "utf8"));
  writeFileSync(
    state,
    JSON.stringify({ ...rest, log_history: [...history, { step: 2, eval_reward: 0.5, eval_loss: 0 }] }),
  );
  const summary = await bring(folder, output, { config: false });
  assert.deepEqual([summary.evaluated, summary.missing.includes("held-out")], [[2], false]);
  assert.match(summaryText(summary), /1 step with rollouts of an evaluation/);
  store.ingestAll(summary.run);
  const { rollouts } = rolloutsOf(store, summary.run);
  for (const { step, use } of rollouts) assert.equal(use, step === 2 ? "evaluate" : "train");
  assert.deepEqual(store.queries.rolloutSteps(summary.run), [1, 3]);
});

test("a file that has changed is refused by name, whenever it changed; one that was only touched is not", async () => {
  const { folder, output, store } = project("verl");
  const { run } = await bring(folder, output);
  store.ingestAll(run);
  assert.equal(rolloutsOf(store, run, 1).total, 16);
  const [first, second, third] = [1, 2, 3].map((step) => join(output, "rollouts", `${step}.jsonl`));
  utimesSync(first!, new Date(), new Date(0));
  assert.equal(rolloutsOf(store, run, 1).total, 16);
  appendFileSync(first!, "{}\n");
  assert.throws(() => rolloutsOf(store, run, 1), {
    name: "UserError",
    message: /step 1 are not shown.*changed/,
  });
  writeFileSync(second!, readFileSync(second!, "utf8").replace("plus", "PLUS"));
  assert.throws(
    () => rolloutsOf(store, run, 2),
    (error: { detail?: { file?: string; code?: string } }) => {
      assert.deepEqual([error.detail?.file, error.detail?.code], [second, "placed-changed"]);
      return true;
    },
  );
  rmSync(third!);
  assert.throws(() => rolloutsOf(store, run, 3), /file is gone/);
  assert.equal(rolloutsOf(store, run, 4).total, 16);
});

test("a question about the whole run leaves out the steps whose files have changed, and names them", async () => {
  const { folder, output, store } = project("verl");
  const { run } = await bring(folder, output);
  store.ingestAll(run);
  const [second, fourth] = [2, 4].map((step) => join(output, "rollouts", `${step}.jsonl`));
  // One before its rows are made, one after.
  appendFileSync(second!, "{}\n");
  assert.equal(rolloutsOf(store, run, 4).total, 16);
  rmSync(fourth!);
  const steps = (rows: ReturnType<typeof rolloutsOf>) => [...new Set(rows.rollouts.map(({ step }) => step))];
  const all = rolloutsOf(store, run);
  assert.deepEqual(steps(all), [1, 3, 5]);
  assert.deepEqual(
    all.unread?.map(({ step, file }) => [step, file]),
    [
      [2, second],
      [4, fourth],
    ],
  );
  assert.match(all.unread?.[0]?.message ?? "", /step 2 are not shown: their file has changed/);
  const part = store.queries.rollouts({ run, from: 3, to: 3, tokens: true, limit: 9 });
  assert.deepEqual([part.rollouts.length, part.unread], [9, undefined]);
  store.queries.curriculum({ run, by: "arm", from: 0, columns: 10, lanes: 10 });
});

test("with --copy the run does not need the folder any more", async () => {
  const { folder, output, store } = project("verl");
  const { run, copied } = await bring(folder, output, { copy: true });
  assert.equal(copied, true);
  rmSync(output, { recursive: true });
  store.ingestAll(run);
  assert.equal(rolloutsOf(store, run).total, 80);
});

test("a store that is rebuilt from the logs answers the same", async () => {
  const { folder, output, store, open } = project("verlOlder");
  const { run } = await bring(folder, output);
  store.ingestAll(run);
  const before = [rolloutsOf(store, run), store.queries.show({ run })];
  close(store);
  for (const name of readdirSync(folder).filter((one) => one.startsWith("store.sqlite")))
    rmSync(join(folder, name), { recursive: true });
  const rebuilt = open();
  rebuilt.ingestAll(run);
  assert.deepEqual([rolloutsOf(rebuilt, run), rebuilt.queries.show({ run })], before);
});

test("an import that fails leaves nothing, and takes away what a killed one left", async () => {
  const { folder, output } = project("verl");
  const runs = join(folder, "runs");
  mkdirSync(join(runs, ".import-999999999-x"), { recursive: true });
  await assert.rejects(bring(folder, join(output, "nothing")), /no such file or folder/);
  rmSync(join(output, "rollouts", "5.jsonl"));
  mkdirSync(join(output, "rollouts", "5.jsonl"));
  await bring(folder, output);
  assert.ok(!existsSync(join(runs, ".import-999999999-x")));
  for (let step = 1; step <= 4; step++) writeFileSync(join(output, "rollouts", `${step}.jsonl`), "{");
  await assert.rejects(bring(folder, output), /hold no rollout/);
  assert.equal(readdirSync(runs).filter((name) => name.startsWith(".import")).length, 0);
  assert.equal(readdirSync(runs).length, 1);
});

test("folders: validation dumps are no rollouts of a step, two sets of rollouts are refused", () => {
  const { output } = project("verl");
  cpSync(join(output, "rollouts"), join(output, "validation"), { recursive: true });
  assert.equal(findOutput(output).folder, join(output, "rollouts"));
  const dump = { trainer: "verl", folder: output };
  for (const path of [output, join(output, "rollouts"), join(output, "rollouts", "3.jsonl")])
    assert.deepEqual(dumpOf(path), dump, path);
  assert.equal(dumpOf(join(output, "metrics.jsonl")), undefined);
  assert.equal(findOutput(join(output, "rollouts")).metrics, join(output, "metrics.jsonl"));
  cpSync(join(output, "rollouts"), join(output, "second", "rollouts"), { recursive: true });
  assert.throws(() => findOutput(output), /Several folders/);
});

test("a folder of validation, named by hand or found alone, holds answers to held-out tasks", async () => {
  const { output, folder, store } = project("verl");
  cpSync(join(output, "rollouts"), join(output, "val_generations"), { recursive: true });
  rmSync(join(output, "rollouts"), { recursive: true });
  assert.equal(findOutput(output).folder, join(output, "val_generations"));
  const summary = await bring(folder, join(output, "val_generations"));
  assert.equal(summary.evaluated.length, summary.steps);
  assert.match(summaryText(summary), /answers to held-out tasks, which have no advantages/);
  store.ingestAll(summary.run);
  while (store.ingest.rollouts.next(summary.run));
  const { rollouts } = rolloutsOf(store, summary.run);
  assert.ok(rollouts.length > 0);
  assert.ok(rollouts.every(({ use }) => use === "evaluate"));
});

test("lines across buffers, empty lines, and a last line without a line break", () => {
  const { folder } = newStore();
  const file = join(folder, "..", "lines.jsonl");
  const long = `{"text":"${"ü".repeat(700_000)}"}`;
  const lines = [`{"a":1}`, "", long, `{"b":"${"x".repeat(400)}"}\r`, "", `{"c":3}`];
  writeFileSync(file, lines.join("\n"));
  const { columns, size, tail } = new LineScanner().scan(file);
  const bytes = readFileSync(file);
  assert.equal(size, bytes.length);
  assert.equal(tail.bytes.toString(), `{"c":3}`);
  const read = [...columns.offset].map((offset, at) => bytes.subarray(offset, offset + columns.length[at]!));
  assert.deepEqual(
    read.map((one) => one.toString()),
    [lines[0], long, lines[3]],
  );
  assert.deepEqual(
    [...columns.crc],
    read.map((one) => crc32(one) | 0),
  );
  assert.equal(fileStamp(file).crc, crc32(bytes));
});

test("scores that are NaN are found across buffers, in the last line, and not in a text", () => {
  const { folder } = newStore();
  const file = join(folder, "..", "lines.jsonl");
  const text = (length: number): string => `{"output": "${"x".repeat(length)}", "score": NaN}\n`;
  const whole = 1024 * 1024;
  const quoted = `{"output": ${JSON.stringify('"score": NaN')}, "score": 1}\n`;
  const rest = text(0).length;
  for (const cut of [1, 3, 9, 11, 12, 14]) {
    // So many characters of the first buffer's end are its last line's.
    writeFileSync(file, quoted + text(whole - quoted.length - rest + cut) + quoted + text(5).trimEnd());
    const { columns, unscored } = new LineScanner().scan(file);
    assert.deepEqual([columns.offset.length, unscored], [3, [1, 3]], `${cut}`);
  }
});

test("metrics have our names where they are on the list", () => {
  const names = ["critic/score/mean", "actor/kl_loss", "timing_s/gen", "timing_s/adv", "actor/grad_norm"];
  assert.deepEqual(
    names.map((name) => ownName("verl", name)),
    ["reward/total", "policy/kl/reference", "time/generate", "timing_s/adv", "update/grad_norm"],
  );
  const phases = ["step", "gen", "reward", "update_actor", "testing"];
  assert.deepEqual(
    phases.map((name) => ownName("verl", `timing_s/${name}`)),
    ["time/total", "time/generate", "time/reward", "time/update", "time/evaluate"],
  );
  assert.equal(ownName("trl", "step_time"), "time/total");
  assert.equal(ownName("trl", "rewards/accuracy/mean"), "reward/accuracy");
  const { steps, heldOut } = readMetrics("verl", "test/fixtures/imported/verl/metrics.jsonl");
  assert.deepEqual([steps.length, heldOut, steps[1]!.values["policy/entropy"]], [5, false, 0.5]);
});

test("weights of reward functions: 1 where that explains the reward, else the only ones that do, else none", () => {
  const logged = (weights: readonly number[], parts: readonly (readonly number[])[]) =>
    parts.map((one) => ({ parts: one, total: one.reduce((sum, part, at) => sum + part * weights[at]!, 0) }));
  const parts = [
    [0.5, 0.25],
    [0.75, 0.125],
    [0.1, 0.9],
  ];
  assert.deepEqual(weightsFrom(logged([1, 1], parts), 2), [1, 1]);
  assert.deepEqual(weightsFrom(logged([2, 0.3], parts), 2), [2, 0.3]);
  assert.deepEqual(weightsFrom([], 2), [1, 1]);
  assert.equal(weightsFrom([...logged([1, 2], parts), { parts: [0.5, 0.5], total: 9 }], 2), undefined);
});
