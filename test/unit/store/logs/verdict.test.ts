/** What a log's training came to, without a store and in one; healthy logs raise no alarm. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { verdictOfLog } from "../../../../server/store/imported/logVerdict.ts";
import { isAlarm } from "../../../../shared/run/verdict.ts";
import { imported } from "../importedFeed.ts";
import {
  course,
  dictOf,
  soundTrl,
  soundVerl,
  steps,
  verlLineOf,
  wobble,
  written,
  type Courses,
} from "./logs.ts";

const verl = (courses: Courses, count = 120): string =>
  `${steps(1, count)
    .map((step) => verlLineOf(courses, step))
    .join("\n")}\n`;
const trl = (courses: Courses, count = 120): string =>
  `${steps(1, count)
    .map((step) => dictOf(courses, step, true))
    .join("\n")}\n`;

const formatAlone: Courses = {
  ...soundTrl,
  "rewards/format_reward/mean": course(0.2, 1, 60, 90),
  "rewards/correct_reward/mean": course(0.4, 0.1, 60, 90),
  reward: course(0.6, 1.1, 60, 90),
};

test("a term that rises while the answers get worse, with the trainer's held-out results", async () => {
  const lines = steps(1, 120).map((step) => {
    const evaluated =
      step % 10 === 0
        ? `{'eval_reward': ${course(0.41, 0.12, 60, 90, 0.005)(step)}, 'epoch': ${step / 1000}}\n`
        : "";
    return `${dictOf(formatAlone, step)}\n${evaluated}`;
  });
  const file = written("slurm-123.out", lines.join(""));
  const found = verdictOfLog(file)!;
  assert.deepEqual(
    [found.name, found.trainer, found.steps, found.state],
    ["slurm-123.out", "TRL", 120, "collapsed"],
  );
  assert.match(
    found.sentence,
    /^Collapsed from step 6\d to (8[89]|9[012]): format_reward 0\.2\d* → (1|0\.99\d*|1\.0\d*) while correct_reward fell 0\.[34]\d* → 0\.\d+ \(means of the first and the last 10 steps\); held-out eval_reward 0\.4\d* → 0\.1\d* \(means of the first and the last 4 evaluations\)\.$/,
  );
  assert.ok(found.step !== null && found.step >= 58 && found.step <= 64, String(found.step));
  const { store, summary } = await imported(file);
  const { verdict } = store.queries.verdict({ run: summary.run });
  assert.deepEqual([verdict?.state, verdict?.since], ["collapsed", found.step]);
  assert.equal(verdict?.headline.replaceAll("`", ""), found.sentence);
  assert.deepEqual([verdict?.cause?.key, verdict?.fixes], [null, []]);
  assert.match(
    verdict?.details.join("\n") ?? "",
    /^Held-out reward changed by −0\.\d+ to −0\.\d+ \(95 % interval that holds over all evaluations\)\.\nTraining reward 0\.\d+ → 1\.\d+; answers \d+ → \d+ tokens \(means of the first and the last 10 steps\)\.$/,
  );
});

test("verl's held-out results fall under their own name, and its reward by itself", () => {
  const lines = steps(1, 120).map((step) =>
    verlLineOf(
      {
        ...soundVerl,
        ...(step % 10 === 0 ? { "val-core/gsm8k/acc/mean@1": course(0.41, 0.12, 60, 90, 0.005) } : {}),
      },
      step,
    ),
  );
  assert.match(
    verdictOfLog(written("a.log", `${lines.join("\n")}\n`))!.sentence,
    /^Collapsed from step 70 to 90: held-out val-core 0\.4\d* → 0\.1\d* \(means of the first and the last 4 evaluations\)\.$/,
  );
  const cutOff = {
    ...soundVerl,
    "critic/score/mean": course(0.6, 0.02, 50, 80),
    "response_length/clip_ratio": course(0.03, 0.97, 50, 80, 0.005),
  };
  assert.match(
    verdictOfLog(written("b.log", verl(cutOff)))!.sentence,
    /^Collapsed from step 5\d to (7[89]|8[012]): the training reward fell 0\.6\d* → 0\.0\d*; answers that are cut off 3\.0 % → 97 % \(means of the first and the last 10 steps\)\.$/,
  );
});

test("a format that takes over within the first steps, before there is a start to compare with", () => {
  const falls =
    (from: number, rate: number): ((step: number) => number) =>
    (step) =>
      from * Math.exp(-step * rate) * (1 + 0.1 * wobble(step));
  const taken: Courses = {
    loss: course(0, 0.3, 0, 60, 0.01),
    "rewards/accuracy_reward": falls(0.2, 0.3),
    "rewards/cosine_scaled_reward": course(-0.1, -0.04, 0, 60, 0.005),
    "rewards/format_reward": (step) => 1 - falls(0.5, 0.4)(step),
    reward: (step) => 1 - falls(0.3, 0.5)(step),
    completion_length: course(390, 20, 0, 30),
    kl: course(0, 8, 0, 60),
    epoch: (step) => step / 1000,
  };
  const found = verdictOfLog(written("a.log", trl(taken, 60)))!;
  assert.match(
    found.sentence,
    /^Hacking format_reward since step \d: format_reward 0\.\d+ → 1\.0* while accuracy_reward fell 0\.0\d+ → (0|\S+e-\d+) \(means of the first and the last 10 steps\)\.$/,
  );
});

test("verl's file logger, and a log that PowerShell wrote in UTF-16", () => {
  const worse: Courses = { ...soundVerl, "critic/score/mean": course(0.6, 0.02, 50, 80) };
  const logged = steps(1, 120).map((step) => {
    const data = Object.fromEntries(Object.entries(worse).map(([name, of]) => [name, of(step)]));
    return JSON.stringify({ step, data });
  });
  const file = written("metrics.jsonl", `${logged.join("\n")}\n`);
  const found = verdictOfLog(file)!;
  assert.deepEqual([found.trainer, found.steps, found.state], ["verl", 120, "collapsed"]);
  const wide = written("train.log", "");
  writeFileSync(wide, Buffer.from(`\uFEFF${verl(worse).replaceAll("\n", "\r\n")}`, "utf16le"));
  assert.equal(verdictOfLog(wide)?.sentence, found.sentence);
});

test("what a tracker recorded, where it is of a reward", () => {
  const trackers = "test/fixtures/trackers";
  const files = {
    TensorBoard: `${trackers}/tensorboard/v2/events.out.tfevents.1795685136.vm.32061.0`,
    "W&B": `${trackers}/wandb/offline-run-20261126_092540-sums0001/run-sums0001.wandb`,
  };
  for (const [trainer, file] of Object.entries(files)) {
    const found = verdictOfLog(file);
    assert.equal(found?.trainer, trainer, file);
    assert.equal(isAlarm(found.state), false, found.sentence);
  }
});

test("a loss or a gradient that is no number, with the step at which it began, before what follows from it", () => {
  const nan =
    (of: (step: number) => number, from: number) =>
    (step: number): number =>
      step >= from ? Number.NaN : of(step);
  const broken: Courses = {
    ...soundVerl,
    "actor/pg_loss": nan(soundVerl["actor/pg_loss"]!, 85),
    "actor/grad_norm": nan(soundVerl["actor/grad_norm"]!, 85),
    "critic/score/mean": course(0.5, 0, 85, 86),
  };
  const found = verdictOfLog(written("a.log", verl(broken)))!;
  assert.deepEqual(
    [found.label, found.step, found.sentence],
    [
      "unstable since 85",
      85,
      "Unstable since step 85: the loss and the norm of its gradient are not a finite number.",
    ],
  );
  const gradient = verdictOfLog(
    written(
      "b.log",
      trl({ ...soundTrl, grad_norm: nan(soundTrl["grad_norm"]!, 21), reward: course(0.5, 0.5) }),
    ),
  )!;
  assert.match(gradient.sentence, /^Unstable since step 21: the norm of the gradient is not a finite number/);
});

test("nothing trains where the gradient is 0, and answers that are cut off say why", () => {
  const still: Courses = {
    ...soundTrl,
    grad_norm: () => 0,
    loss: () => 0,
    "completions/clipped_ratio": () => 1,
    "rewards/format_reward/mean": () => 0,
    "rewards/correct_reward/mean": () => 0,
    reward: () => 0,
    reward_std: () => 0,
    frac_reward_zero_std: () => 1,
  };
  assert.equal(
    verdictOfLog(written("a.log", trl(still, 40)))!.sentence,
    "Starved since step 1: all answers of a group get the same reward (on average 0), so there is nothing to learn from; 100 % of answers are cut off at the length limit.",
  );
  assert.equal(
    verdictOfLog(
      written(
        "b.log",
        verl({ ...soundVerl, "actor/grad_norm": () => 0, "critic/score/mean": () => 0.9 }, 40),
      ),
    )!.sentence,
    "Starved since step 1: the gradient is 0, so nothing trains.",
  );
});

test("a reward that is flat says so, since when, by whatever the trainer logs of it", () => {
  const flat =
    (of: (step: number) => number, value: number, from = 1): ((step: number) => number) =>
    (step) =>
      step < from ? of(step) : value;
  const { reward_std: std, frac_reward_zero_std: share, ...lone } = soundTrl;
  const { "completions/clipped_ratio": _, ...logged } = lone;
  // What KL or weight decay leaves of the gradient is not 0.
  const unlike: Courses = { ...logged, "rewards/correct_reward/mean": course(0.3, 0.2) };
  const format = { "rewards/format_reward/mean": () => 0.5, reward: flat(course(0.5, 0.6), 0.5, 41) };
  const said = (text: string): string => verdictOfLog(written("a.log", text))!.sentence;
  const same = (since: number, mean: string): string =>
    `Starved since step ${since}: all answers of a group get the same reward (on average ${mean}), so there is nothing to learn from.`;
  const zero = { ...unlike, "rewards/correct_reward/mean": () => 0, "rewards/format_reward/mean": () => 0 };
  assert.equal(said(trl({ ...zero, reward: () => 0, reward_std: () => 0 })), same(1, "0"));
  assert.equal(said(trl({ ...unlike, ...format, reward_std: flat(std!, 0, 41) })), same(41, "0.500"));
  assert.equal(
    said(trl({ ...unlike, ...format, frac_reward_zero_std: flat(share!, 1, 41) })),
    same(41, "0.500"),
  );
  assert.equal(
    said(trl({ ...zero, reward: () => 0 })),
    "Starved since step 1: the reward is 0 at every step, so there is nothing to learn from.",
  );
  const score = (from: number): Courses => ({
    ...soundVerl,
    "critic/score/mean": flat(course(0.3, 0.3), 0.25, from),
    "critic/score/max": flat(() => 1, 0.25, from),
    "critic/score/min": flat(() => 0, 0.25, from),
  });
  assert.equal(said(verl(score(1))), same(1, "0.250"));
  assert.equal(said(verl(score(61))), same(61, "0.250"));
  const advantages: Courses = {
    ...soundVerl,
    "critic/score/mean": course(0.3, 0.3),
    "critic/score/max": () => 1,
    "critic/score/min": () => 0,
    "critic/advantages/max": flat(() => 2, 0, 61),
    "critic/advantages/min": flat(() => -2, 0, 61),
  };
  assert.equal(said(verl(advantages)), same(61, "0.299"));
});

test("healthy logs raise no alarm", () => {
  const healthy: Readonly<Record<string, string>> = {
    "verl learns": verl(soundVerl),
    "TRL learns its format first": trl(soundTrl),
    "a loss of 0 on policy": trl({ ...soundTrl, loss: () => 0 }),
    "shortness falls while answers get better": trl({
      ...soundTrl,
      "rewards/brevity/mean": course(0.6, 0.1, 20, 60),
    }),
    "a single step without a number": verl({
      ...soundVerl,
      "actor/grad_norm": (step) => (step % 12 === 0 ? Number.POSITIVE_INFINITY : 0.3),
    }),
    "a norm that is never logged as a number, where the reward rises": trl({
      ...soundTrl,
      grad_norm: () => Number.NaN,
    }),
    "two terms of names that say nothing, one of which falls": trl({
      ...soundTrl,
      "rewards/alpha/mean": course(0.8, 0.2, 20, 60),
      "rewards/beta/mean": course(0.2, 0.9, 20, 60),
      "rewards/format_reward/mean": () => Number.NaN,
      "rewards/correct_reward/mean": course(0.4, 0.5, 0, 80),
    }),
    "scores that cross zero": verl({ ...soundVerl, "critic/score/mean": course(-0.4, 0.2, 0, 100, 0.1) }),
    "solved in the end, when all answers are right": trl({
      ...soundTrl,
      "rewards/format_reward/mean": course(0.2, 1, 0, 25, 0),
      "rewards/correct_reward/mean": course(0.3, 1, 0, 80, 0),
      reward: course(0.5, 2, 0, 80, 0),
      reward_std: course(0.4, 0, 0, 80, 0),
      frac_reward_zero_std: () => Number.NaN,
    }),
    "a sparse reward that is 0 for twelve steps": trl({
      ...soundTrl,
      reward: (step) => (step < 12 ? 0 : course(0.1, 1, 12, 100)(step)),
      reward_std: (step) => (step < 12 ? 0 : 0.3),
      "rewards/correct_reward/mean": (step) => (step < 12 ? 0 : course(0.05, 0.6, 12, 100)(step)),
    }),
    "two answers in a group that differ, at a mean that stays": verl({
      ...soundVerl,
      "critic/score/mean": () => 0.5,
      "critic/score/max": () => 1,
      "critic/score/min": () => 0,
    }),
    "saturated from the start": verl({ ...soundVerl, "critic/score/mean": course(0.97, 0.98, 0, 1, 0.01) }),
  };
  for (const [name, text] of Object.entries(healthy)) {
    const found = verdictOfLog(written("train.log", text))!;
    assert.ok(!isAlarm(found.state), `${name}: ${found.sentence}`);
  }
});

test("what is no log has no verdict, and only so much of one is read", () => {
  assert.equal(verdictOfLog(written("a.log", "Hello\n")), undefined);
  assert.equal(verdictOfLog(written("out/trainer_state.json", "{")), undefined);
  assert.equal(verdictOfLog("/nowhere/at/all"), undefined);
  const file = written("b.log", verl(soundVerl));
  assert.ok(verdictOfLog(file, 8_000)!.steps < 120);
});
