/** What a training printed, read as a run: every form that such a log has. */
import assert from "node:assert/strict";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { logLines } from "../../../../server/store/imported/feeds/console/logLines.ts";
import { trlLine, verlLine } from "../../../../server/store/imported/feeds/console/printed.ts";
import { findGrowing, findSource } from "../../../../server/store/imported/findSource.ts";
import { imported } from "../importedFeed.ts";
import { dictOf, soundTrl, soundVerl, steps, verlLineOf, written, type Courses } from "./logs.ts";

test("verl's console lines with what Ray, a terminal and progress bars put around them", async () => {
  const bar = (step: number): string =>
    `Training Progress:  ${step}%|█         | ${step}/40 [1:12<7:21, 61s/it]`;
  const lines = steps(1, 40).map((step) => {
    const line = verlLineOf(soundVerl, step);
    return [
      `\u001B[36m(TaskRunner pid=517, ip=10.0.0.2)\u001B[0m ${line}\n${bar(step)}\n`,
      `${bar(step)}\r${line} [repeated 8x across cluster]\r\n`,
      `${bar(step)}${line}\n`,
      `2026-11-29 10:11:12 INFO ${line}\n`,
    ][step % 4];
  });
  const file = written(
    "slurm-123.out",
    `Loading: 100%|██| 2/2 [00:01<00:00]\r\nstep: 3 - no metrics\n${lines.join("")}`,
  );
  const { summary, series, listed, show } = await imported(file);
  assert.deepEqual(
    [summary.trainer, summary.metrics, summary.rollouts, summary.groups, listed?.status, show.name],
    ["verl", 40, 0, "none", "finished", "slurm-123.out"],
  );
  assert.deepEqual(series("reward/total")?.steps, steps(1, 40));
  assert.equal(series("reward/total")?.values[6], soundVerl["critic/score/mean"]!(7));
  assert.equal(series("policy/entropy")?.values.length, 40);
  assert.deepEqual(summary.notes, []);
});

test("numbers as they are printed: numpy's, tensors, NaN; what is none is left out", () => {
  const line =
    "step:7 - actor/a:np.float64(0.5) - actor/b:tensor(2., device='cuda:0') - actor/c:nan - actor/d:-inf - actor/e:1e-06 - f:None";
  assert.deepEqual(verlLine(line)?.data, {
    "actor/a": 0.5,
    "actor/b": 2,
    "actor/c": Number.NaN,
    "actor/d": Number.NEGATIVE_INFINITY,
    "actor/e": 1e-6,
  });
  assert.equal(verlLine("step:7 - loss:0.5"), undefined);
  assert.equal(verlLine("last_step:7 - actor/loss:0.5"), undefined);
  const [swift] = trlLine(
    '{"loss": 0.5, "reward": 1, "epoch": 0.1, "global_step/max_steps": "3/60", "eta": null}',
  );
  assert.deepEqual(swift, { kind: "step", step: 3, data: { loss: 0.5, reward: 1, epoch: 0.1 } });
});

test("a training that was started again: of a step the last attempt counts, and the import says so", async () => {
  const again: Courses = { ...soundVerl, "critic/score/mean": () => 0.75 };
  const text = [
    ...steps(1, 30).map((step) => verlLineOf(soundVerl, step)),
    "Traceback (most recent call last):",
    ...steps(21, 40).map((step) => verlLineOf(again, step)),
    ...steps(31, 35).map((step) => verlLineOf({ ...again, "critic/score/mean": () => 0.5 }, step)),
  ].join("\n");
  const { summary, series } = await imported(written("train.log", `${text}\n`));
  const { steps: found, values } = series("reward/total")!;
  assert.deepEqual(found, steps(1, 40));
  assert.deepEqual(
    [values[19], values[20], values[29], values[30], values[34], values[35], values[39]],
    [soundVerl["critic/score/mean"]!(20), 0.75, 0.75, 0.5, 0.5, 0.75, 0.75],
  );
  assert.deepEqual(summary.notes, [
    "the training was started again 2 times (at step 21 after step 30, at step 31 after step 40): of a step that was made twice the last counts",
  ]);
});

test("TRL's dicts with bars on the same line: steps by `logging_steps` of the bars, evaluations at theirs", async () => {
  const text = steps(1, 30).map((line) => {
    const step = line * 10;
    const evaluated =
      line % 10 === 0
        ? `{'eval_loss': 0.0, 'eval_reward': ${line / 100}, 'eval_rewards/correct_reward/mean': 0.5, 'epoch': ${step / 1000}}\n 50%|█████     | 4/8 [00:01<00:01,  2.00it/s]\r`
        : "";
    return `${dictOf(soundTrl, step, line > 15)}\n${evaluated}  1%|▏         | ${step}/300 [00:12<01:02:11,  9.31s/it]`;
  });
  const { summary, series, show, store } = await imported(
    written("nohup.out", `${text.join("")}{'train_runtime': '12.5', 'train_loss': '0.1', 'epoch': '0.3'}\n`),
  );
  assert.equal(summary.trainer, "trl");
  assert.deepEqual(
    series("reward/total")?.steps,
    steps(1, 30).map((line) => line * 10),
  );
  assert.equal(series("reward/correct_reward")?.values[19], soundTrl["rewards/correct_reward/mean"]!(200));
  assert.equal(show.steps, 301);
  const { evaluations } = store.queries.evaluations({ run: summary.run });
  assert.deepEqual(
    evaluations.map(({ step, metrics }) => [step, metrics["eval/reward/total"]]),
    [
      [100, 0.1],
      [200, 0.2],
      [300, 0.3],
    ],
  );
  assert.deepEqual(summary.notes, [
    "the log says no steps: its 30 lines with metrics were counted, and they are 10 steps apart by its progress bars",
  ]);
});

test("without bars each line counts for a step; a training from a checkpoint goes on from its epoch", async () => {
  const text = [...steps(1, 20), ...steps(13, 25)].map((step) => dictOf(soundTrl, step)).join("\n");
  const { summary, series } = await imported(written("train.txt", `${text}\n`));
  assert.deepEqual(series("update/loss")?.steps, steps(1, 25));
  assert.match(summary.notes?.[0] ?? "", /started again 1 time \(at step 13 after step 20\)/);
  assert.match(
    summary.notes?.[1] ?? "",
    /33 lines with metrics were counted, and each is taken for one step/,
  );
});

test("a lone trainer_state.json, in its checkpoint or named itself; a log that went on beyond it comes first", async () => {
  const history = steps(1, 30).map((line) => ({
    ...Object.fromEntries(Object.entries(soundTrl).map(([name, of]) => [name, of(line * 2)])),
    step: line * 2,
  }));
  const state = (made: number): string =>
    JSON.stringify({ global_step: made, max_steps: 120, logging_steps: 2, log_history: history });
  const file = written("out/checkpoint-60/trainer_state.json", state(60));
  for (const path of [file, join(dirname(file), "..")]) {
    const { summary, series, show } = await imported(path);
    assert.deepEqual([summary.trainer, summary.metrics, show.name], ["trl", 30, "out"]);
    assert.deepEqual(series("reward/total")?.steps.slice(0, 3), [2, 4, 6]);
  }
  const folder = join(dirname(file), "..");
  writeFileSync(
    join(folder, "train.log"),
    steps(1, 50)
      .map((line) => `${dictOf(soundTrl, line * 2)}\n`)
      .join(""),
  );
  const { series, summary } = await imported(folder);
  assert.deepEqual(series("reward/total")?.steps.at(-1), 100);
  assert.match(summary.notes?.[0] ?? "", /2 steps apart by `logging_steps`/);
  writeFileSync(file, state(120));
  assert.equal((await imported(folder)).summary.metrics, 30);
});

test("of several logs the newest with metrics is read, and the others are named", async () => {
  const old = written("logs/slurm-1.out", `${verlLineOf(soundVerl, 1)}\n`);
  const folder = dirname(old);
  mkdirSync(join(folder, "more"));
  writeFileSync(join(folder, "more", "slurm-2.out"), `${verlLineOf(soundVerl, 5)}\n`);
  writeFileSync(join(folder, "install.log"), "step:1 of 3\n{'name': 'x'}\n");
  utimesSync(old, 1, 1);
  const { series, summary } = await imported(folder);
  assert.deepEqual(series("reward/total")?.steps, [5]);
  assert.deepEqual(summary.notes, [
    "of several logs the newest, slurm-2.out, was read: name another (slurm-1.out) to import it",
  ]);
});

test("what is no log is refused as before, and a log alone is nothing to follow yet", () => {
  const text = written("notes.txt", "step:1 - nothing\n{'a': 1}\n");
  assert.throws(() => findSource(text), /holds nothing that Gradus imports/);
  const log = written("train.log", `${verlLineOf(soundVerl, 1)}\n`);
  assert.equal(findSource(log).kind, "log");
  assert.throws(() => findGrowing(log), /holds nothing/);
  assert.throws(() => findGrowing(dirname(log)), /There is nothing to import/);
});

test("lines of any length are read in time and room of their own: long ones are left out", () => {
  const file = written(
    "train.log",
    `${"x".repeat(3_000_000)}\nshort\r\rshorter\n${"{'a".repeat(60_000)}\ncut at the end`,
  );
  const lines = [...logLines(file)];
  assert.deepEqual(lines.slice(0, 2), ["short", "shorter"]);
  assert.equal(lines.at(-1), "cut at the");
  const hostile = [
    "{'a': 1, ".repeat(25_000),
    "step:1 - a/b:".repeat(18_000),
    "{'".repeat(120_000),
    `{'${"a".repeat(250_000)}`,
    "9".repeat(250_000),
  ];
  for (const line of hostile) {
    assert.equal([...trlLine(line)].length, 0);
    verlLine(line);
  }
});
