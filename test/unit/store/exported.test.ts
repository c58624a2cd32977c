/** Runs as trackers would have written them: read again by our feeds, and by the trackers' own packages where they are installed. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { RecordTail } from "../../../server/lib/growing/recordTail.ts";
import { openDatabase } from "../../../server/store/drivers/driver.ts";
import { TrackioFeed } from "../../../server/store/imported/feeds/trackioFeed.ts";
import { pieceOf, Pieces } from "../../../server/store/imported/feeds/wandb/wandbLog.ts";
import { runFolder } from "../../../server/store/files.ts";
import { loggedRun } from "../../../server/store/exported/loggedRun.ts";
import { eventFileName, eventRecords } from "../../../server/store/exported/tensorboard.ts";
import { namerOf, theirName } from "../../../server/store/exported/theirNames.ts";
import { projectOf, writeProject } from "../../../server/store/exported/trackio.ts";
import { offlineNames, wandbLog } from "../../../server/store/exported/wandb.ts";
import { WandbFrame } from "../../../server/store/exported/wandbFrame.ts";
import { writeChunks } from "../../../server/store/exported/writeChunks.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { metrics as known } from "../../../shared/metrics/metrics.ts";
import { pythonWith } from "../../support/pythonPackages.ts";
import { start, type Written } from "../log/sample.ts";
import { thorough } from "../../support/thorough.ts";
import { imported } from "./importedFeed.ts";
import { ingestWhole, newFolder, write } from "./support.ts";

const fixtures = "test/fixtures/trackers";

const end = (step: number, status: "finished" | "failed" = "finished"): Written => ({
  kind: "end",
  step,
  status,
  message: "",
  seconds: 9,
  ended_at: "2026-01-01T00:01:00.000Z",
});

/** A run whose second attempt began again at step 2 and made one step less. */
function sample(): string {
  const folder = newFolder();
  const evaluation: Written = {
    kind: "evaluation",
    step: 1,
    time: 1_767_225_601_500,
    role: "periodic",
    metrics: { "eval/greedy": 0.75 },
  };
  const values = (step: number, of: number): Written => ({
    kind: "metrics",
    step,
    time: 1_767_225_600_000 + 1000 * step,
    values: {
      "reward/total": of,
      "reward/total/std": 0.25,
      "reward/correct": step / 8,
      "reward/correct/errors": 1,
      "update/loss": step === 2 ? "NaN" : 0.5,
      "groups/mixed": step === 3 ? "Infinity" : 0.5,
      "loss/policy": -0.125,
    },
  });
  write(folder, "sample", 0, [
    [[start()], -1],
    ...[0, 1, 2, 3, 4].map((step) => [[values(step, step)], step] as const),
    [[evaluation], 1],
  ]);
  write(folder, "sample", 1, [
    [[start(1, 2)], -1],
    ...[2, 3].map((step) => [[values(step, 10 + step)], step] as const),
    [[end(3)], 3],
  ]);
  return runFolder(folder, "sample");
}

/** Writes a run's event file and returns its folder. */
function events(folder: string): string {
  const run = loggedRun(folder);
  const place = join(newFolder(), run.start.run);
  const namer = namerOf(run.start.origin?.trainer);
  writeChunks(
    join(place, eventFileName(run)),
    eventRecords(run, (own) => theirName(namer, own)),
  );
  return place;
}

type Read = Awaited<ReturnType<typeof imported>>;

/** All that a run's charts show, by metric. */
const seriesOf = ({ names, series }: Read, round = (value: number): number => value) =>
  Object.fromEntries(
    names.names.map((name) => {
      const { steps = [], values = [] } = series(name) ?? {};
      return [name, { steps, values: values.map((value) => (value === null ? null : round(value))) }];
    }),
  );

const folderOf = ({ show }: Read): string => show.folder;

test("a run's log says what holds: the last attempt's steps, evaluations among them, with times in seconds", () => {
  const { steps, start: begun, end: ended } = loggedRun(sample());
  assert.deepEqual(
    steps.map(({ step, time, values }) => [step, time, values["reward/total"]]),
    [
      [0, 1_767_225_600, 0],
      [1, 1_767_225_601.5, 1],
      [2, 1_767_225_602, 12],
      [3, 1_767_225_603, 13],
    ],
  );
  assert.equal(steps[1]?.values["eval/greedy"], 0.75);
  assert.deepEqual([begun.attempt, ended?.status], [0, "finished"]);
  const folder = newFolder();
  write(folder, "sample", 0, [[[], 0]]);
  assert.throws(() => loggedRun(runFolder(folder, "sample")), /log has no beginning/);
});

test("names are TRL's, or those of the trainer that made the run, and come back as the run's own", () => {
  const trl = (own: string): string => theirName("trl", own);
  assert.deepEqual(
    ["reward/total", "reward/correct", "reward/correct/errors", "update/loss", "policy/kl/reference"].map(
      trl,
    ),
    ["train/reward", "train/rewards/correct/mean", "reward/correct/errors", "train/loss", "train/kl"],
  );
  // Of several models only the reference comes back.
  assert.deepEqual(["policy/kl/teacher", "time/total", "time/update", "groups/mixed"].map(trl), [
    "policy/kl/teacher",
    "train/step_time",
    "time/update",
    "groups/mixed",
  ]);
  assert.equal(theirName(namerOf("verl"), "reward/total"), "critic/score/mean");
  assert.equal(theirName(namerOf("wandb"), "reward/total"), "train/reward");
  for (const namer of ["trl", "verl", "openrlhf", "prime_rl"] as const) {
    const theirs = known.map(({ name }) => theirName(namer, name));
    assert.equal(new Set(theirs).size, known.length, `${namer} has one name for two metrics`);
  }
});

test("TensorBoard's event file of a run, as our feed reads it", async () => {
  const read = await imported(events(sample()));
  assert.deepEqual(seriesOf(read), {
    "eval/greedy": { steps: [1], values: [0.75] },
    "groups/mixed": { steps: [0, 1, 2, 3], values: [0.5, 0.5, 0.5, null] },
    "loss/policy": { steps: [0, 1, 2, 3], values: [-0.125, -0.125, -0.125, -0.125] },
    "reward/correct": { steps: [0, 1, 2, 3], values: [0, 0.125, 0.25, 0.375] },
    "reward/correct/errors": { steps: [0, 1, 2, 3], values: [1, 1, 1, 1] },
    "reward/total": { steps: [0, 1, 2, 3], values: [0, 1, 12, 13] },
    "reward/total/std": { steps: [0, 1, 2, 3], values: [0.25, 0.25, 0.25, 0.25] },
    "update/loss": { steps: [0, 1, 2, 3], values: [0.5, 0.5, null, 0.5] },
  });
  assert.deepEqual(read.show.config, { name: "sample", steps: 4 });
  assert.deepEqual(read.summary.notes, []);
});

for (const [name, path] of [
  ["TensorBoard's", "tensorboard/v1"],
  ["TensorFlow's", "tensorboard/v2"],
  ["trackio's", "trackio"],
  ["W&B's", "wandb"],
  ["prime-rl's", "prime"],
  ["OpenRLHF's", "openrlhf"],
] as const)
  test(`a run of ${name} that was imported comes back from an event file, in 32 bits`, async () => {
    const first = await imported(join(fixtures, path));
    const second = await imported(events(folderOf(first)));
    assert.deepEqual(seriesOf(second), seriesOf(first, Math.fround));
    assert.deepEqual(second.show.config, first.show.config);
  });

/** Why a tracker's own package is not asked, and how it is. */
function peer(module: string, part: string, release: string) {
  const wanted = { versions: ["3.12", "3.11"], whole: [release], alone: [] };
  // A folder of that name here is none of it.
  const found = pythonWith(`${module}.${part}`, wanted, thorough);
  const ask = (...words: readonly string[]): Record<string, unknown> => {
    const { status, stdout, stderr } = spawnSync(
      found.kind === "python" ? found.path : "python3",
      [join(fixtures, "read.py"), module, ...words],
      { encoding: "utf8" },
    );
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  return { skip: found.kind === "none" && found.why, ask };
}

const tensorboard = peer("tensorboard", "backend", "tensorboard==2.21.0");
test("TensorBoard reads a run's scalars, config and HParams", { skip: tensorboard.skip }, () => {
  const { scalars, charts, text, hparams } = tensorboard.ask(events(sample()));
  const named = scalars as Record<string, [number, number, number | string][]>;
  assert.deepEqual(charts, Object.keys(named).sort());
  assert.deepEqual(Object.keys(named).sort(), [
    "eval/greedy",
    "groups/mixed",
    "loss/policy",
    "reward/correct/errors",
    "train/loss",
    "train/reward",
    "train/reward_std",
    "train/rewards/correct/mean",
  ]);
  assert.deepEqual(named["train/reward"], [
    [0, 1_767_225_600, 0],
    [1, 1_767_225_601.5, 1],
    [2, 1_767_225_602, 12],
    [3, 1_767_225_603, 13],
  ]);
  assert.deepEqual([named["train/loss"]?.[2]?.[2], named["groups/mixed"]?.[3]?.[2]], ["nan", "inf"]);
  assert.deepEqual(
    [text, hparams],
    [
      { name: "sample", steps: 4 },
      { values: { name: "sample", steps: 4 }, status: 1 },
    ],
  );
});

const rows: readonly RolloutRow[] = [0, 1, 2, 3].map((at) => ({
  step: 2 + Math.floor(at / 2),
  group: "a",
  index: at % 2,
  task: { id: "sum", data: { target: 7 }, answer: "3 + 4" },
  prompt: "Make 7 →",
  response: `3 + 4 makes ${6 + at}`,
  finish: "stop",
  use: at === 3 ? "evaluate" : "train",
  rewards: { correct: at === 1 ? 1 : 0, brevity: "NaN" },
  reward: at === 1 ? 1 : 0,
  advantage: at === 1 ? 0.5 : null,
  policy: { start: at, end: at },
  ...(at === 2
    ? {
        turns: [
          { role: "assistant", start: 0, end: 1, text: "<tool>add</tool>" },
          { role: "tool", name: "add", start: 1, end: 2, text: "7" },
          { role: "assistant", start: 2, end: 3, text: "It makes 7" },
        ],
      }
    : {}),
}));

async function* each<Item>(items: readonly Item[], fails = false): AsyncGenerator<Item> {
  for (const item of items) yield await Promise.resolve(item);
  if (fails) throw new Error("The daemon has gone.");
}

/** Adds a run to the project of a folder of trackio. */
async function project(folder: string, rollouts: AsyncIterable<RolloutRow>, out = newFolder()) {
  const run = loggedRun(folder);
  const { name, file } = projectOf(run, out);
  const namer = namerOf(run.start.origin?.trainer);
  const traces = await writeProject(file, run, (own) => theirName(namer, own), rollouts);
  return { out, name, file, traces, run: run.start.run };
}

test("a project of trackio, with a run's metrics, config and rollouts, as our feed reads it", async () => {
  const { file, traces } = await project(sample(), each(rows));
  assert.equal(traces, 4);
  const read = await imported(file);
  const first = await imported(events(sample()));
  const { "rollout/staleness": _, "rollout/staleness/max": __, ...charts } = seriesOf(read);
  assert.deepEqual(
    Object.fromEntries(
      Object.entries(charts).filter(([name]) => !name.startsWith("groups/") || name === "groups/mixed"),
    ),
    seriesOf(first),
  );
  assert.deepEqual([read.show.config, read.summary.rollouts], [{ name: "sample", steps: 4 }, 3]);
  ingestWhole(read.store, read.summary.run);
  const { rollouts } = read.store.queries.rollouts({ run: read.summary.run, tokens: false, limit: 10 });
  assert.deepEqual(
    rollouts.map(({ step, group, index, prompt, response, reward, rewards, use, policy }) => [
      [step, group, index, prompt, response, reward, use, policy?.start],
      rewards,
    ]),
    [
      [[2, "a", 0, "Make 7 →", "3 + 4 makes 6", 0, "train", 0], { correct: 0, brevity: "NaN" }],
      [[2, "a", 1, "Make 7 →", "3 + 4 makes 7", 1, "train", 1], { correct: 1, brevity: "NaN" }],
      [
        [3, "a", 0, "Make 7 →", "<tool>add</tool>\n7\nIt makes 7", 0, "train", 2],
        { correct: 0, brevity: "NaN" },
      ],
      [[3, "a", 1, "Make 7 →", "3 + 4 makes 9", 0, "evaluate", 3], { correct: 0, brevity: "NaN" }],
    ],
  );
});

test("a project keeps its runs: one joins them once, all of it or nothing", async () => {
  const { out, file } = await project(sample(), each(rows));
  await assert.rejects(project(sample(), each(rows), out), /has the run sample already/);
  const other = await imported(join(fixtures, "wandb"));
  await assert.rejects(project(folderOf(other), each(rows, true)), /The daemon has gone/);
  const broken = newFolder();
  const { file: gone } = projectOf(loggedRun(folderOf(other)), broken);
  await assert.rejects(project(folderOf(other), each(rows, true), broken), /The daemon has gone/);
  assert.ok(!existsSync(gone));
  cpSync(file, join(broken, "first.db"), { recursive: true });
  const { run } = await project(folderOf(other), each([]), broken);
  const both = new TrackioFeed(gone, "sample");
  assert.match(both.about().notes[0] ?? "", new RegExp(`first.db has 1 more runs \\(${run}\\)`));
  const back = await imported(gone, { sourceRun: run });
  assert.deepEqual(seriesOf(back), seriesOf(other));
  const earlier = join(newFolder(), "sample.db");
  mkdirSync(dirname(earlier), { recursive: true });
  const { database } = openDatabase(earlier, { anyThread: true });
  database.exec(
    "CREATE TABLE metrics (id INTEGER, timestamp TEXT, run_name TEXT NOT NULL, step INTEGER, metrics TEXT)",
  );
  database.close();
  await assert.rejects(project(sample(), each(rows), dirname(earlier)), /a release of trackio before 0\.43/);
});

const trackio = peer("trackio", "sqlite_storage", "trackio==0.43.0");
test("trackio reads a run's metrics, config and traces", { skip: trackio.skip }, async () => {
  const { out, name } = await project(sample(), each(rows));
  const { projects, runs, logs, config, traces, found } = trackio.ask(out, name, "sample");
  assert.deepEqual([projects, runs], [["sample"], ["sample"]]);
  const logged = logs as Record<string, unknown>[];
  assert.deepEqual(
    logged.map((one) => [one["step"], one["train/reward"], one["timestamp"]]),
    [
      [0, 0, "2026-01-01T00:00:00.000Z"],
      [1, 1, "2026-01-01T00:00:01.500Z"],
      [2, 12, "2026-01-01T00:00:02.000Z"],
      [3, 13, "2026-01-01T00:00:03.000Z"],
    ],
  );
  assert.deepEqual([logged[2]?.["train/loss"], logged[3]?.["groups/mixed"]], ["nan", "inf"]);
  assert.deepEqual(config, {
    ...{ name: "sample", steps: 4 },
    ...{ _Username: null, _Created: "2026-01-01T00:00:00.000Z", _Group: null },
  });
  const told = traces as { step: number; messages: { role: string }[]; metadata: Record<string, unknown> }[];
  assert.deepEqual(
    told.map(({ step, messages, metadata }) => [step, messages.map(({ role }) => role), metadata["reward"]]),
    [
      [2, ["user", "assistant"], 0],
      [2, ["user", "assistant"], 1],
      [3, ["user", "assistant"], 0],
      [3, ["user", "assistant", "tool", "assistant"], 0],
    ],
  );
  assert.deepEqual([told[1]?.metadata["target"], told[1]?.metadata["rewards/correct"], found], [7, 1, 2]);
});

/** Writes a run as W&B's offline folder, and returns that. */
function offline(folder: string, out = newFolder()): string {
  const run = loggedRun(folder);
  const names = offlineNames(run);
  const namer = namerOf(run.start.origin?.trainer);
  const place = join(out, names.folder);
  writeChunks(
    join(place, names.file),
    wandbLog(run, (own) => theirName(namer, own)),
  );
  return place;
}

test("W&B's offline folder of a run, as our feed reads it, exactly", async () => {
  const read = await imported(offline(sample()));
  assert.deepEqual(seriesOf(read), seriesOf(await imported(events(sample()))));
  assert.deepEqual(
    [read.summary.version, read.show.name, read.show.config, read.listed?.status],
    ["0.31.0", "sample", { name: "sample", steps: 4 }, "finished"],
  );
  assert.equal(basename(offline(sample())), "offline-run-20260101_000000-sample");
  for (const path of ["tensorboard/v1", "trackio", "wandb", "prime"]) {
    const first = await imported(join(fixtures, path));
    const second = await imported(offline(folderOf(first)));
    assert.deepEqual(seriesOf(second), seriesOf(first), path);
    assert.deepEqual(second.show.config, first.show.config);
    assert.deepEqual(second.summary.notes, []);
  }
});

test("a name that W&B refuses as a project's is changed, and the run's id stays", () => {
  const run = loggedRun(sample());
  const named = { ...run, start: { ...run.start, name: "sums/7: a?" } };
  const log = Buffer.concat([...wandbLog(named, (own) => own)]).toString("latin1");
  assert.ok(log.includes("sums-7- a-") && !log.includes("sums/7"));
});

test("W&B's records are cut wherever a block of the log ends", () => {
  for (const length of [0, 1, 32_753, 32_754, 32_755, 32_760, 32_761, 65_536, 100_000]) {
    const frame = new WandbFrame();
    const records = [Buffer.alloc(length, 7), Buffer.from("next"), Buffer.alloc(40_000, 9)];
    const file = join(newFolder(), "run-x.wandb");
    writeChunks(file, [frame.begin(), ...records.flatMap((record) => [...frame.pieces(record)])]);
    const tail = new RecordTail(file, pieceOf);
    const pieces = new Pieces();
    const read: Buffer[] = [];
    for (let more = true; more;) {
      const slice = tail.next(1 << 20);
      for (const payload of slice.payloads) {
        const record = pieces.add(payload);
        if (record !== undefined) read.push(record);
      }
      more = slice.more;
    }
    assert.equal(tail.damage, undefined);
    assert.deepEqual(
      read.map((record) => [record.length, record[0]]),
      records.map((record) => [record.length, record[0]]),
    );
  }
});

const wandb = peer("wandb", "sdk", "wandb==0.31.0");
test("`wandb sync` takes a run's folder and sends all that it has", { skip: wandb.skip }, () => {
  const sent = wandb.ask(offline(sample()));
  assert.deepEqual([sent["code"], sent["exit"]], [0, 0], String(sent["said"]));
  const about = sent["run"] as Record<string, unknown>;
  assert.deepEqual([about["name"], about["project"], about["displayName"]], ["sample", "sample", "sample"]);
  const config = sent["config"] as Record<string, { value: unknown }>;
  assert.deepEqual([config["name"]?.value, config["steps"]?.value], ["sample", 4]);
  const history = sent["history"] as Record<string, unknown>[];
  assert.deepEqual(
    history.map((one) => [one["_step"], one["_timestamp"], one["train/reward"], one["train/loss"]]),
    [
      [0, 1_767_225_600, 0, 0.5],
      [1, 1_767_225_601.5, 1, 0.5],
      [2, 1_767_225_602, 12, "NaN"],
      [3, 1_767_225_603, 13, 0.5],
    ],
  );
  assert.equal(history[3]?.["groups/mixed"], "Infinity");
  const summary = sent["summary"] as Record<string, unknown>;
  assert.deepEqual([summary["eval/greedy"], summary["train/reward"], summary["_step"]], [0.75, 13, 3]);
});
