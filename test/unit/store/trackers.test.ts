/** What trackers wrote, as runs: fixtures made by the real packages (test/fixtures/trackers/README.md). */
import assert from "node:assert/strict";
import { appendFileSync, cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { crc32c } from "../../../server/lib/growing/crc32c.ts";
import { findSource, type Source } from "../../../server/store/imported/findSource.ts";
import { TensorboardFeed } from "../../../server/store/imported/feeds/tensorboardFeed.ts";
import { TrackerNames } from "../../../server/store/imported/feeds/trackerNames.ts";
import { WandbFeed } from "../../../server/store/imported/feeds/wandb/wandbFeed.ts";
import { imported } from "./importedFeed.ts";
import { importRun } from "../../../server/store/imported/importRun.ts";
import { newStore, values } from "./support.ts";

const fixtures = "test/fixtures/trackers";

test("TensorBoard's scalars in both forms, with the settings that were logged as a text", async () => {
  const v1 = await imported(join(fixtures, "tensorboard", "v1"));
  assert.deepEqual(
    [v1.summary.trainer, v1.summary.metrics, v1.summary.groups, v1.listed?.status],
    ["tensorboard", 6, "none", "finished"],
  );
  assert.deepEqual(v1.series("reward/total"), {
    steps: [1, 2, 3, 4, 5, 6],
    values: [0.375, 0.5, 0.625, 0.75, 0.875, 1],
  });
  assert.deepEqual(v1.series("update/loss")?.values[2], null);
  assert.equal(v1.series("reward/accuracy")?.values[1], 0.25);
  assert.deepEqual(v1.show.config, { learning_rate: 0.000001, num_generations: 8 });
  const v2 = await imported(join(fixtures, "tensorboard", "v2"));
  assert.deepEqual(v2.series("reward/total")?.values, [0.375, 0.5, 0.625, 0.75, 0.875, 1]);
  assert.deepEqual(v2.series("policy/entropy")?.values[3], 0.5);
  assert.throws(() => findSource(join(fixtures, "tensorboard")), /Several runs are here/);
});

test("a damaged event file is read up to the damage, which is named; a half-written one grows", () => {
  const folder = join(newStore().folder, "events");
  cpSync(join(fixtures, "tensorboard", "v1"), folder, { recursive: true });
  const [name] = readdirSync(folder);
  const file = join(folder, name!);
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.subarray(0, 500));
  const growing = new TensorboardFeed(folder);
  const first = growing.next().parts.length;
  assert.ok(first > 0 && first < 6);
  assert.equal(growing.next().parts.length, 0);
  appendFileSync(file, bytes.subarray(500));
  assert.ok(growing.next().parts.some(({ step }) => step === 6));
  assert.deepEqual(growing.about().notes, []);
  bytes[600]! ^= 1;
  writeFileSync(file, bytes);
  const damaged = new TensorboardFeed(folder);
  damaged.next();
  assert.match(damaged.about().notes[0] ?? "", /is damaged at byte \d+: what follows in it is not read/);
});

test("a trackio project's newest run, or the one that is named", async () => {
  const { summary, series, show } = await imported(join(fixtures, "trackio"));
  assert.deepEqual([summary.trainer, summary.metrics, show.name], ["trackio", 6, "first"]);
  assert.deepEqual(series("reward/total")?.values, [0.375, 0.5, 0.625, 0.75, 0.875, 1]);
  assert.equal(series("update/loss")?.values[1], null);
  assert.deepEqual(show.config, { learning_rate: 0.000001, num_generations: 8 });
  const file = await imported(join(fixtures, "trackio", "sums.db"), { sourceRun: "first" });
  assert.equal(file.summary.metrics, 6);
  await assert.rejects(
    imported(join(fixtures, "trackio"), { sourceRun: "second" }),
    /There is no run "second" in this project/,
  );
});

test("a W&B folder that was never uploaded, with settings longer than a block of its log", async () => {
  const { summary, listed, series, show } = await imported(join(fixtures, "wandb"));
  assert.deepEqual(
    [summary.trainer, summary.version, summary.metrics, show.name, listed?.status],
    ["wandb", "0.31.0", 6, "first", "finished"],
  );
  assert.deepEqual(series("reward/total")?.values, [0.375, 0.5, 0.625, 0.75, 0.875, 1]);
  assert.deepEqual(series("policy/entropy")?.values[3], 0.5);
  assert.deepEqual(series("val-core/sums/reward/mean@1")?.steps.length, 6);
  assert.deepEqual(Object.keys(show.config).sort(), ["actor_rollout_ref", "lr", "template"]);
  assert.equal(String(show.config["template"]).length, 40_000);
});

test("a W&B log is read as it grows, and up to a damage", () => {
  const folder = join(newStore().folder, "wandb");
  mkdirSync(folder, { recursive: true });
  const [run] = readdirSync(join(fixtures, "wandb"));
  const bytes = readFileSync(join(fixtures, "wandb", run!, "run-sums0001.wandb"));
  const file = join(folder, "run-sums0001.wandb");
  writeFileSync(file, bytes.subarray(0, bytes.length - 900));
  const feed = new WandbFeed(folder);
  const early = feed.next().parts.length;
  assert.ok(early > 0 && early < 6);
  assert.equal(feed.about().ended, undefined);
  writeFileSync(file, bytes);
  assert.equal(early + feed.next().parts.length, 6);
  assert.equal(feed.about().ended?.status, "finished");
  bytes[bytes.length - 1000]! ^= 1;
  writeFileSync(file, bytes);
  const damaged = new WandbFeed(folder);
  damaged.next();
  assert.match(damaged.about().notes[0] ?? "", /is damaged at byte \d+/);
});

test("prime-rl's file monitor: what trainer and orchestrator logged of one step", async () => {
  const { summary, series, names } = await imported(join(fixtures, "prime"));
  assert.deepEqual([summary.trainer, summary.metrics], ["prime_rl", 6]);
  assert.deepEqual(series("reward/total"), {
    steps: [0, 1, 2, 3, 4, 5],
    values: [0.25, 0.375, 0.5, 0.625, 0.75, 0.875],
  });
  assert.deepEqual(series("update/grad_norm")?.values[1], 0.5);
  assert.deepEqual(series("groups/mixed")?.values[0], 0.5);
  assert.deepEqual(series("reward/correct")?.values[1], 0.1875);
  assert.ok(names.names.includes("progress/total_tokens"));
});

test("OpenRLHF's event files: statistics of its rollouts, its update, and an evaluation", async () => {
  const { summary, series, names } = await imported(join(fixtures, "openrlhf"));
  assert.deepEqual([summary.metrics, summary.notes], [6, []]);
  const last = (name: string): number | null | undefined => series(name)?.values.at(-1);
  assert.deepEqual(
    ["reward/total", "reward/total/std", "rollout/count", "rollout/length", "rollout/truncated"].map(last),
    [1, 0.5, 8, 8, 0.25],
  );
  assert.deepEqual(
    ["update/loss", "update/grad_norm", "update/lr", "update/clip_fraction", "update/anchor_kl"].map(
      (name) => series(name)?.values[1],
    ),
    [0.5, 2, 0.5, 0.125, 0.5],
  );
  assert.deepEqual([last("mismatch/k3"), last("policy/kl/reference")], [0.0625, 0.25]);
  // A reward's extra logs, and an evaluation by data set, keep their names; a sample's text is no metric.
  assert.deepEqual(series("eval/eval_sums_pass1"), { steps: [3, 6], values: [0.5, 0.5] });
  assert.equal(last("train/correct"), 0.5);
  assert.ok(!names.names.some((name) => name.includes("generated_samples")));
});

/** A copy of verl's folder whose file logger wrote these lines. */
async function verlLogged(text: string) {
  const folder = join(newStore().folder, "out");
  cpSync("test/fixtures/imported/verl", folder, { recursive: true });
  writeFileSync(join(folder, "metrics.jsonl"), text);
  const { folder: home, store } = newStore();
  const request = { store: home, folder, name: undefined, copy: false, config: undefined, version: "0" };
  const { run, metrics } = await importRun({ ...request, progress: () => undefined });
  store.ingestAll(run);
  return { metrics, values: (name: string) => values(store, run, name) };
}

test("verl's file logger with bare NaN, half a line, bytes of a lost page, and a step that was logged again", async () => {
  const line = (step: number, data: string): string => `{"step": ${step}, "data": {${data}}}\n`;
  const { metrics, values: of } = await verlLogged(
    line(
      1,
      '"critic/score/mean": NaN, "actor/grad_norm": Infinity, "actor/pg_loss": -Infinity, "actor/entropy": 1.5',
    ) +
      line(2, '"critic/score/mean": 0.25, "note": "a NaN in a text"') +
      line(3, '"critic/score/mean": 0.5') +
      "\0".repeat(512) +
      `\n${line(3, '"critic/score/mean": 0.75')}` +
      '{"step": 4, "data": {"critic/score/mean": 0.9, "actor/ent',
  );
  assert.equal(metrics, 3);
  assert.deepEqual([...(of("reward/total")?.values ?? [])], [null, 0.25, 0.75]);
  assert.deepEqual([...(of("update/grad_norm")?.values ?? [])], [null]);
  assert.deepEqual([...(of("policy/entropy")?.values ?? [])], [1.5]);
  assert.deepEqual([...(of("update/loss")?.values ?? [])], [null]);
});

test("verl's file logger that has nothing yet, or half its first line", async () => {
  for (const text of ["", '{"step": 1, "da']) assert.equal((await verlLogged(text)).metrics, 0);
});

test("names decide whose they are; those that nobody's list has stay", () => {
  const names = new TrackerNames();
  assert.deepEqual(
    names.values({ "train/reward": 1, "train/completions/mean_length": 8, "train/mine": 2, mine: 3 }),
    {
      "reward/total": 1,
      "rollout/length": 8,
      "train/mine": 2,
      mine: 3,
    },
  );
  const verl = new TrackerNames();
  assert.deepEqual(verl.values({ "critic/score/mean": 1, "timing_s/step": 2, "timing_s/adv": 3 }), {
    "reward/total": 1,
    "time/total": 2,
    "timing_s/adv": 3,
  });
});

test("CRC-32C of the standard's example", () => {
  assert.equal(crc32c(Buffer.from("123456789")), 0xe3069283);
});

test("what is none of these is refused with what can be named", () => {
  const { folder } = newStore();
  const source = (): Source => findSource(folder);
  assert.throws(source, /There is nothing to import in this folder/);
});
