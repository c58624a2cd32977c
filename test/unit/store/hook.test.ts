/** The file of `gradus hook` in real Python processes, and the runs that are made of what it wrote. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { HookFeed } from "../../../server/store/imported/feeds/hook/hookFeed.ts";
import { importFeed } from "../../../server/store/imported/feeds/importFeed.ts";
import { findSource } from "../../../server/store/imported/findSource.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { until } from "../../support/until.ts";
import { close, newStore, values } from "./support.ts";

const made: string[] = [];
after(() => made.forEach((folder) => rmSync(folder, { recursive: true, force: true })));
function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "gradus-hook-"));
  made.push(path);
  return path;
}
const hook = resolve("server/cli/hook");
const start = (code: string) => [
  "-c",
  `import sys, os, time; sys.path.insert(0, ${JSON.stringify(hook)}); sys.dont_write_bytecode = True\nfrom gradus_hook import *\nimport gradus_hook\n${code}`,
];
function python(code: string, out: string, env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync("python3", start(code), {
    encoding: "utf8",
    env: { ...process.env, GRADUS_ROLLOUTS: out, ...env },
  });
  return { status, stdout, stderr };
}
function rowsIn(out: string): RolloutRow[] {
  const feed = new HookFeed(out, { config: undefined });
  const { parts, more } = feed.next(true);
  assert.equal(more, false);
  return parts.flatMap(({ rows = [] }) => rows);
}

test("rewards of each convention, sync and async, are recorded with what they were asked", () => {
  const out = folder();
  const code = `
import asyncio
class State: global_step = 2
@log_rollouts
def right(prompts, completions, answer, **kw): return [1.0 if a in c else 0.0 for c, a in zip(completions, answer)]
@log_rollouts(name="short", weight=0.5)
async def brief(completions, **kw): return [None if "x" in c else -1.0 for c in completions]
asked = dict(prompts=["1+1=", "1+1=", "2+2="], completions=["2", "x", "4"], completion_ids=[[1], [2], [3]], answer=["2", "2", "4"], trainer_state=State())
assert right(**asked) == [1.0, 0.0, 1.0] and right.__name__ == "right"
assert asyncio.run(brief(**asked)) == [-1.0, None, -1.0]
set_step(5)
@log_rollouts
def compute_score(data_source, solution_str, ground_truth, extra_info=None): return {"score": 0.25, "acc": True, "pred": "7"}
compute_score("math", "so 7", "7", {"question": "3+4?", "index": 4, "split": "train"})
compute_score(data_source="math", solution_str="so 8", ground_truth="7", extra_info={"question": "3+4?", "index": 4, "split": "test"})
set_step(6)
class Tensor:
    def __init__(self, values): self.values = values
    def tolist(self): return self.values
@log_rollouts
def reward_func(queries, prompts, labels, **kw): return {"rewards": Tensor([0.5, float("nan")]), "scores": Tensor([1, 2]), "extra_logs": {"len": Tensor([3, 4])}}
reward_func(["ab!", "ab?"], ["ab", "ab"], ["!", "!"])
set_step(7)
@log_rollouts
def plain(question, response): return len(response)
plain("why", "because")
try:
    log_rollouts(lambda response: 1 / 0, name="fails")("no")
except ZeroDivisionError:
    print("raised")
`;
  assert.deepEqual(python(code, out), { status: 0, stdout: "raised\n", stderr: "" });
  const rows = rowsIn(out);
  const seen = rows.map(({ step, index, prompt, response, rewards, reward }) => [
    step,
    index,
    prompt,
    response,
    rewards,
    reward,
  ]);
  assert.deepEqual(seen, [
    [3, 0, "1+1=", "2", { right: 1, short: -1 }, 0.5],
    [3, 1, "1+1=", "x", { right: 0, short: null }, 0],
    [3, 0, "2+2=", "4", { right: 1, short: -1 }, 0.5],
    [5, 0, "3+4?", "so 7", { compute_score: 0.25 }, 0.25],
    [5, 0, "3+4?", "so 8", { compute_score: 0.25 }, 0.25],
    [6, 0, "ab", "!", { reward_func: 0.5 }, 0.5],
    [6, 1, "ab", "?", { reward_func: "NaN" }, null],
    [7, 0, "why", "because", { plain: 7 }, 7],
    [7, 0, undefined, "no", {}, null],
  ]);
  assert.equal(rows[0]?.group, rows[1]?.group);
  assert.notEqual(rows[0]?.group, rows[2]?.group);
  assert.deepEqual(rows[0]?.weights, { short: 0.5 });
  assert.deepEqual(rows[3]?.task?.data, {
    question: "3+4?",
    index: 4,
    split: "train",
    ground_truth: "7",
    answer: "7",
    data_source: "math",
  });
  assert.deepEqual(
    [rows[3]?.task?.arm, rows[3]?.components, rows[3]?.use, rows[4]?.use],
    ["math", { compute_score: { acc: 1 } }, "train", "evaluate"],
  );
  assert.deepEqual(rows.at(-1)?.errors, { fails: "ZeroDivisionError: division by zero" });
});

test("what cannot be recorded is said once and stops nothing", () => {
  const call = `
@log_rollouts
def score(response, **kw): return 1.0
class Bad:
    def __repr__(self): raise RuntimeError("no")
loop = {}; loop["self"] = loop
for at in range(3): assert score("a", bad=Bad(), loop=loop, half="\\ud800") == 1.0
`;
  const taken = join(folder(), "file");
  writeFileSync(taken, "");
  const refused = python(call, join(taken, "in"));
  assert.equal(refused.status, 0);
  assert.match(refused.stderr, /^gradus_hook: rollouts are not being recorded, and training goes on: .*\n$/);
  // A file that may not grow: what a full disk does.
  const full = folder();
  const limited = `import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nresource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))${call}`;
  const stopped = python(limited, full);
  assert.equal(stopped.status, 0);
  assert.match(stopped.stderr, /^gradus_hook: .*File too large.*\n$/);
  assert.equal(rowsIn(full).length, 1);
  const fine = folder();
  assert.deepEqual(python(call, fine).stderr, "");
  assert.equal(rowsIn(fine).length, 3);
  assert.equal(python(call, "off").stderr, "");
});

test("several processes write at once, and one that is killed loses no whole line", async () => {
  const out = folder();
  const forks = `
@log_rollouts
def score(completions, **kw): return [float(len(c)) for c in completions]
class State: pass
for child in range(3):
    if os.fork() == 0: break
for step in range(4):
    State.global_step = step
    score(prompts=["same"] * 4, completions=["é" * (step + 1)] * 4, trainer_state=State)
`;
  assert.equal(python(forks, out).status, 0);
  // Children may outlive their parent.
  await until(() => readdirSync(out).length >= 4, "the rows of all four processes");
  const rows = rowsIn(out);
  assert.ok(rows.length >= 16 && rows.length % 4 === 0, String(rows.length));
  for (const step of [1, 2, 3, 4]) {
    const members = rows.filter((row) => row.step === step).map(({ index }) => index);
    assert.deepEqual(
      members,
      members.map((_, at) => at),
    );
  }
  const endless = folder();
  const child = spawn(
    "python3",
    start(
      `\n@log_rollouts\ndef score(response): return 1.0\nat = 0\nwhile True:\n    at += 1\n    set_step(at)\n    score("x" * 3000)\n`,
    ),
    { env: { ...process.env, GRADUS_ROLLOUTS: endless }, stdio: "ignore" },
  );
  const size = () => readdirSync(endless).reduce((sum, name) => sum + statSync(join(endless, name)).size, 0);
  await until(() => size() >= 200_000, "a long file");
  // Read while it is written, then once more when it has been killed.
  const feed = new HookFeed(endless, { config: undefined });
  const early = feed.next(false).parts.length;
  assert.ok(early > 10);
  child.kill("SIGKILL");
  await once(child, "exit");
  let all = early;
  for (let more = true; more;) {
    const slice = feed.next(true);
    all += slice.parts.length;
    more = slice.more;
  }
  const [name] = readdirSync(endless);
  const lines = readFileSync(join(endless, name!), "utf8").split("\n").length - 1;
  assert.equal(all, lines);
});

test("a folder of the hook is a run with groups, advantages by a config, and metrics of its own", async () => {
  const out = folder();
  const code = `
@log_rollouts
def right(completions, answer, **kw): return [1.0 if c == a else 0.0 for c, a in zip(completions, answer)]
class State: pass
for step in range(3):
    State.global_step = step
    right(prompts=["1+1="] * 4 + ["2+2="] * 4, completions=["2", "3", "2", "4"] + ["5"] * 4, answer=["2"] * 4 + ["4"] * 4, trainer_state=State)
`;
  python(code, out);
  const { folder: storeFolder, store } = newStore();
  const file = join(storeFolder, "..", "sums.gradus.yaml");
  const text =
    "name: sums\ntasks: [{ env: countdown, numbers: [3] }]\nreward: { terms: { answer: { use: equation } } }\nrollout: { prompts: 2, group: 4 }\nsteps: 5\n";
  writeFileSync(file, text);
  const loaded = loadConfig(file, { recorded: true }).config!;
  const source = findSource(out);
  assert.ok(source.kind === "feed" && source.trainer === "hook");
  const summary = await importFeed(
    {
      store: storeFolder,
      folder: out,
      name: undefined,
      copy: false,
      version: "0.0.0",
      progress: () => undefined,
      config: { file, text, set: [], loaded, version: null },
    },
    source.feed,
  );
  assert.deepEqual(
    [summary.rollouts, summary.steps, summary.advantages, summary.missing],
    [24, 3, "grpo", ["log-probs", "held-out", "the trainer's own metrics"]],
  );
  store.ingestAll(summary.run);
  const [listed] = store.queries.list({ limit: 10 }).runs;
  assert.deepEqual(
    [listed?.status, listed?.step, listed?.steps, listed?.origin?.rollouts],
    ["finished", 3, 4, 24],
  );
  assert.deepEqual(values(store, summary.run)?.values, [0.25, 0.25, 0.25]);
  const { rollouts, total } = store.queries.rollouts({ run: summary.run, step: 2, tokens: true, limit: 100 });
  assert.equal(total, 8);
  // The config's only term is the only function.
  assert.deepEqual(rollouts[0]?.rewards, { answer: 1 });
  assert.ok(Number(rollouts[0]?.advantage) > 0 && Number(rollouts[1]?.advantage) < 0);
  const { groups } = store.queries.groups({ run: summary.run, by: "arm", names: [], limit: 100 });
  assert.deepEqual(
    groups.map(({ successes, size }) => [successes, size]),
    [
      [2, 4],
      [0, 4],
      [2, 4],
      [0, 4],
      [2, 4],
      [0, 4],
    ],
  );
  close(store);
});

test("of a large folder the newest complete steps come first, each once", () => {
  const out = folder();
  const response = "x".repeat(40_000);
  for (const process of [1, 2]) {
    const lines: string[] = [];
    for (let step = 1; step <= 220; step++)
      for (let index = 0; index < 2; index++)
        lines.push(
          JSON.stringify({
            step,
            time: 1000 + step,
            use: "train",
            group: `g${process}`,
            index,
            rewards: { right: index },
            response,
            call: step,
            ms: 0,
            batch: 2,
          }),
        );
    writeFileSync(join(out, `rollouts-box-${process}-1000.jsonl`), `${lines.join("\n")}\n`);
  }
  const feed = new HookFeed(out, { config: undefined });
  const order: number[] = [];
  for (let more = true; more;) {
    const slice = feed.next(order.length > 0);
    for (const { step, rows = [] } of slice.parts) {
      assert.equal(rows.length, 4);
      order.push(step);
    }
    more = slice.more;
  }
  assert.equal(order[0], 219);
  assert.ok(order.indexOf(1) < 60, String(order.indexOf(1)));
  assert.deepEqual(
    [...order].sort((one, other) => one - other),
    Array.from({ length: 220 }, (_, at) => at + 1),
  );
});

test("of several trainings in one folder the last is read; what was resumed goes on from its checkpoint", () => {
  const out = folder();
  const train = (process: number, from: number, steps: readonly number[], reward: number): void => {
    const lines = steps.map((step, at) =>
      JSON.stringify({
        step,
        time: from + at,
        use: "train",
        group: "g",
        index: 0,
        rewards: { right: reward },
        response: "",
        call: 1,
        ms: 0,
        batch: 1,
      }),
    );
    writeFileSync(join(out, `rollouts-box-${process}-${from * 1000}.jsonl`), `${lines.join("\n")}\n`);
    const metrics = steps.map((step, at) => JSON.stringify({ step, time: from + at, data: { reward } }));
    writeFileSync(join(out, `metrics-box-${process}-${from * 1000 + 500}.jsonl`), `${metrics.join("\n")}\n`);
  };
  train(1, 1000, [1, 2, 3], 0.1);
  train(2, 2000, [1, 2, 3, 4], 0.2);
  train(3, 3000, [3, 4, 5], 0.3);
  const feed = new HookFeed(out, { config: undefined });
  const { parts } = feed.next(true);
  const rewards = parts.flatMap(({ step, rows = [] }) => rows.map(({ reward }) => [step, reward]));
  assert.deepEqual(rewards, [
    [1, 0.2],
    [2, 0.2],
    [3, 0.3],
    [4, 0.3],
    [5, 0.3],
  ]);
  const logged = parts.flatMap(({ step, values }) =>
    values === undefined ? [] : [[step, values["reward/total"]]],
  );
  assert.deepEqual(logged, rewards);
  assert.match(feed.about().notes[0] ?? "", /1 earlier training, which was left out/);
});

test("OpenRLHF's event files are the metrics of the rollouts next to them, up to what was trained again", () => {
  const events = join("test", "fixtures", "trackers", "openrlhf", "sums");
  const [name = ""] = readdirSync(events);
  const out = folder();
  copyFileSync(join(events, name), join(out, name));
  const seconds = Number(/\d+/.exec(name)?.[0]);
  const row = (step: number, time: number): string =>
    `${JSON.stringify({ step, time, use: "train", group: "g", index: 0, rewards: { right: 1 }, task: { env: "hook", arm: "a", id: "g", data: {} }, response: "x", call: 1, ms: 1, batch: 1 })}\n`;
  const write = (steps: readonly number[], after: number): void =>
    writeFileSync(
      join(out, `rollouts-host-${steps[0]}-${seconds + after}000.jsonl`),
      steps.map((step) => row(step, seconds + after + step)).join(""),
    );
  write([1, 2, 3, 4, 5, 6], 60);
  const steps = () =>
    new HookFeed(out, { config: undefined })
      .next(true)
      .parts.flatMap(({ step, values: found }) => (found?.["update/loss"] === undefined ? [] : [step]));
  assert.deepEqual(steps(), [1, 2, 3, 4, 5, 6]);
  // A second process goes on from a checkpoint of step 3.
  write([4, 5], 900);
  assert.deepEqual(steps(), [1, 2, 3]);
});

test("event files that are there before the first rollouts are of the run that follows", async () => {
  const out = folder();
  const rollouts = join(out, "gradus-rollouts");
  const events = join("test", "fixtures", "trackers", "openrlhf", "sums");
  cpSync(events, rollouts, { recursive: true });
  const source = findSource(out);
  assert.ok(source.kind === "feed");
  assert.equal(source.feed.trainer, "hook");
  const feed = source.feed.open({ config: undefined });
  const losses = feed.next(false).parts.filter(({ values: found }) => found?.["update/loss"] !== undefined);
  assert.equal(losses.length, 6);
  const code = "set_step(7)\n@log_rollouts\ndef right(prompt, response): return 1\nright('p', 'r')";
  assert.equal(python(code, rollouts).status, 0);
  const rows = feed.next(true).parts.flatMap(({ rows: found = [] }) => found);
  assert.deepEqual(
    rows.map(({ step, rewards }) => [step, rewards]),
    [[7, { right: 1 }]],
  );
});

test("metrics of verl's file logger are those of the rollouts next to them, under Gradus's names", () => {
  const out = folder();
  const row = (step: number, time: number): string =>
    `${JSON.stringify({ step, time, use: "train", group: "g", index: 0, rewards: { right: 1 }, task: { env: "hook", arm: "a", id: "g", data: {} }, response: "x", call: 1, ms: 1, batch: 1 })}\n`;
  const logged = (step: number): string =>
    `${JSON.stringify({ step, data: { "critic/score/mean": 0.5, "perf/mfu": step } })}\n`;
  const began = 1_800_000_000;
  // verl begins its log minutes before the first rollouts: the model is loaded between.
  writeFileSync(join(out, `metrics-verl-${began}000.jsonl`), logged(1) + logged(2) + logged(3));
  writeFileSync(
    join(out, `rollouts-host-1-${began + 300}000.jsonl`),
    [1, 2, 3].map((step) => row(step, began + 300 + step)).join(""),
  );
  // It was resumed after step 2.
  writeFileSync(join(out, `metrics-verl-${began + 900}000.jsonl`), logged(3) + logged(4));
  writeFileSync(
    join(out, `rollouts-host-2-${began + 1200}000.jsonl`),
    [3, 4].map((step) => row(step, began + 1200 + step)).join(""),
  );
  const { parts } = new HookFeed(out, { config: undefined }).next(true);
  const metrics = parts.filter(({ values: found }) => found !== undefined && "perf/mfu" in found);
  assert.deepEqual(
    metrics.map(({ step, values: found }) => [step, found?.["reward/total"]]),
    [1, 2, 3, 4].map((step) => [step, 0.5]),
  );
  assert.ok(metrics.every(({ time }) => Number.isFinite(time)));
});
