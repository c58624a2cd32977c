/** Recorded rollouts that must not train: those written to be measured, and those of tasks that evaluation asks. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { contextOf } from "../../../server/algorithm/algorithm.ts";
import { openSources } from "../../../server/algorithm/curriculum/openSources.ts";
import { textsByTask } from "../../../server/core/templates.ts";
import { randomStream } from "../../../server/lib/random.ts";
import { ofKind, testRun, type TestRun } from "../../support/runFolder.ts";
import { configOf } from "../support.ts";

const source = "{ env: reverse_text, lengths: [2, 3] }";

/** Tasks of either side of the split, as the source itself tells them. */
function tasks() {
  const { top } = configOf(`tasks: [${source}]\nreward: { terms: { right: { use: exact_match } } }\n`);
  const context = contextOf(top, { random: randomStream(1, "methods") });
  const [one] = openSources(top.tasks, context);
  const drawn = (split: "train" | "evaluate") =>
    Array.from({ length: 3 }, (_, i) => one!.source.draw(split, undefined, randomStream(2, split, i))!);
  return { train: drawn("train"), evaluate: drawn("evaluate") };
}

interface Log {
  /** The rollouts' term. */
  readonly term?: string;
  /** Whether the log has the tasks' ids. */
  readonly ids?: boolean;
  readonly only?: "measured";
}

function logOf({ term = "right", ids = true, only }: Log): string {
  const { train, evaluate } = tasks();
  const row = (task: (typeof train)[number], group: string, index: number, use: string): string =>
    JSON.stringify({
      step: 0,
      group,
      index,
      task: ids ? { env: task.env, id: task.id, data: {} } : { env: task.env, data: {} },
      prompt: task.prompt,
      response: index === 0 ? task.solution : "zz",
      use,
      rewards: { [term]: 1 - index },
    });
  const measured = train.map((task, i) => row(task, `m${i}`, 0, i === 0 ? "estimate" : "evaluate"));
  if (only === "measured") return measured.join("\n");
  const pairs = (of: typeof train, name: string): string[] =>
    of.flatMap((task, i) => [0, 1].map((index) => row(task, `${name}${i}`, index, "train")));
  return [...measured, ...pairs(train, "t"), ...pairs(evaluate, "h")].join("\n");
}

async function withRun(
  log: Log,
  replay: string,
  act: (run: TestRun, code: number) => void,
  more = "",
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "gradus-held-out-"));
  writeFileSync(join(folder, "log.jsonl"), logOf(log));
  const file = join(folder, "a.gradus.yaml");
  writeFileSync(
    file,
    `model: { base: tiny, width: 32, layers: 1, heads: 2, hidden: 48, context: 64 }
tasks: [${source}]
rollout: { prompts: 2, group: 2, max_tokens: 3 }
reward: { terms: { right: { use: exact_match } } }
replay: ${replay}
${more}stages: [{ name: only, kind: rl, steps: 3 }]
evaluation: { every: 1000, prompts: 2, pass_at: [1], record: 0 }
`,
  );
  const run = testRun([], file);
  try {
    act(run, await run.work());
  } finally {
    run.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

const recomputed = "{ use: file, path: log.jsonl, share: 0.5, rescore: recomputed }";
const events = (run: TestRun, name: string) =>
  ofKind(run.records(), "event").filter((one) => one.name === name);
const sizes = (run: TestRun) => ofKind(run.records(), "metrics").map(({ values }) => values["replay/size"]);
const heldOutPrompts = (): Set<string> => new Set(tasks().evaluate.map(({ prompt }) => prompt));

for (const ids of [true, false])
  test(`neither measured rollouts nor held-out tasks are replayed${ids ? "" : ", known by their prompts"}`, async () => {
    await withRun({ ids }, recomputed, (run, code) => {
      assert.equal(code, 0, run.ending());
      assert.deepEqual(sizes(run), [6, 6, 6]);
      const replayed = ofKind(run.records(), "rollout").filter(({ row }) => row.source === "replay");
      assert.ok(replayed.length > 0);
      const held = heldOutPrompts();
      assert.ok(replayed.every(({ row }) => row.use === "train" && !held.has(row.prompt ?? "")));
      const [told, ...others] = events(run, "rollouts-left-out");
      assert.equal(others.length, 0);
      assert.match(
        told!.message,
        /Of the 15 rollouts .* 9 are left out: 3 generated to be measured .*, 6 of tasks that this run's evaluation holds out/,
      );
    });
  });

test("`held_out: train` lets tasks that evaluation holds out train, and no measured rollout", async () => {
  const replay = "{ use: file, path: log.jsonl, held_out: train, share: 0.5, rescore: recomputed }";
  await withRun({}, replay, (run, code) => {
    assert.equal(code, 0, run.ending());
    assert.deepEqual(sizes(run), [12, 12, 12]);
  });
});

test("demonstrations in addition to the objective leave out the same rows", async () => {
  const more = "auxiliary: [{ use: sft, data: file, path: log.jsonl, weight: 1 }]\n";
  await withRun(
    {},
    "none",
    (run, code) => {
      assert.equal(code, 0, run.ending());
      assert.match(events(run, "rollouts-left-out")[0]!.message, /9 are left out/);
    },
    more,
  );
});

test("a log with nothing else but measured rollouts ends the run at its start", async () => {
  await withRun({ only: "measured" }, recomputed, (run, code) => {
    assert.equal(code, 1);
    assert.match(run.ending(), /none of the 3 rollouts may train: 3 generated to be measured/);
  });
});

test("a log whose terms have other names is an error; scored again it trains", async () => {
  const other = { term: "correct" };
  await withRun(other, recomputed, (run, code) => {
    assert.equal(code, 1);
    assert.match(run.ending(), /`correct`.*`right`.*terms: again/);
  });
  const again = "{ use: file, path: log.jsonl, share: 0.5, rescore: { use: recomputed, terms: again } }";
  await withRun(other, again, (run, code) => {
    assert.equal(code, 0, run.ending());
    assert.ok(sizes(run).every((size) => size === 6));
  });
});

test("a dataset and a teacher's file that are logs leave out what was measured, and say so", () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-held-out-"));
  const file = join(folder, "log.jsonl");
  const opened = (answer: string) => {
    const { top } = configOf(
      `tasks: [{ dataset: ${file}, prompt: "{prompt}", answer: "{${answer}}" }]\nreward: { terms: { right: { use: exact_match } } }\n`,
    );
    return openSources(top.tasks, contextOf(top, { random: randomStream(1, "methods") }))[0]!.source;
  };
  try {
    writeFileSync(file, logOf({}));
    assert.match(opened("response").omitted ?? "", /^3 lines of .*log\.jsonl left out: .*never train$/);
    const texts = textsByTask(file, ["response"]);
    assert.match(texts.omitted ?? "", /^3 lines/);
    assert.deepEqual(texts.of(tasks().train[0]!), [tasks().train[0]!.solution, "zz"]);
    writeFileSync(file, '{"prompt":"ab","use":"evaluate","answer":"ba"}\n');
    assert.equal(opened("answer").omitted, undefined, "a dataset's own field says nothing of rollouts");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
