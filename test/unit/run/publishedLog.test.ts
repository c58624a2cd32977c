/** Runs that publish their rollouts into a log that they share, in whole runs on the real engine. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseRollout, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { ofKind, testRun, type TestRun } from "../../support/runFolder.ts";
import { temporary } from "../support.ts";
import { some } from "../../support/thorough.ts";

const STEPS = 6;

/** A swarm's config in a folder of its own, with the log next to it. */
function project(path: string, more = ""): { readonly file: string; readonly log: string } {
  const folder = temporary();
  const file = join(folder, "c.gradus.yaml");
  const tasks = ["ab", "cd", "ef", "gh", "ij", "kl"].map((prompt) =>
    JSON.stringify({ prompt, answer: prompt }),
  );
  writeFileSync(join(folder, "tasks.jsonl"), tasks.join("\n"));
  // About half of what an untrained model writes.
  writeFileSync(
    join(folder, "even.ts"),
    "export const score = ({ response }: { response: string }): number => (response.charCodeAt(0) || 1) % 2;",
  );
  writeFileSync(
    file,
    `extends: sapo-swarm
model: { base: tiny, width: 16, layers: 1, heads: 1, hidden: 16, context: 16 }
tasks: [{ dataset: ./tasks.jsonl, prompt: "{prompt}", answer: "{answer}" }]
rollout: { prompts: 2, group: 2, max_tokens: 3 }
reward: { terms: { even: { use: ./even.ts } } }
replay: { path: ${path}, held_out: train${more} }
steps: ${STEPS}
evaluation: { every: 1000, prompts: 1, pass_at: [1], record: 0 }
checkpoint: { every: 1, keep: 9 }
`,
  );
  return { file, log: join(folder, path) };
}

const linesOf = (log: string): RolloutRow[] =>
  readFileSync(log, "utf8")
    .split("\n")
    .flatMap((text, line) => (text === "" ? [] : [parseRollout(text, { file: log, line })]));
const nameOf = ({ run, step, group, index }: RolloutRow): string => `${run}/${step}/${group}#${index}`;
const ofRun = (rows: readonly RolloutRow[], id: string): RolloutRow[] => rows.filter(({ run }) => run === id);
const metric = (run: TestRun, name: string, attempt = 0): (number | string | undefined)[] =>
  ofKind(run.records(attempt), "metrics").map(({ values }) => values[name]);
/** Groups that the run's steps replayed, and whose they are. */
const replayedTexts = (run: TestRun): Set<string> =>
  new Set(
    ofKind(run.records(), "rollout")
      .filter(({ row }) => row.source === "replay")
      .map(({ row }) => `${row.prompt} ${row.response}`),
  );

/** Every rollout of the run's steps is in the log, once, as the run's own log has it. */
function assertWhole(rows: readonly RolloutRow[], run: TestRun, id: string, attempt = 0): void {
  const own = ofKind(run.records(attempt), "rollout").filter(({ row }) => row.source === "self");
  const published = new Map(ofRun(rows, id).map((row) => [nameOf(row), row.response]));
  for (const { row } of own) assert.equal(published.get(nameOf({ ...row, run: id })), row.response);
  assert.equal(published.size, ofRun(rows, id).length, "no rollout is there twice");
}

for (const path of some(["swarm", "swarm.jsonl"], 1))
  test(`two runs feed one another through ${path}`, async () => {
    const { file, log } = project(path);
    const [a, b] = [testRun([], file, "a"), testRun(["seed=2"], file, "b")];
    try {
      assert.deepEqual(await Promise.all([a.work(), b.work()]), [0, 0], a.ending() + b.ending());
      const rows =
        path === "swarm" ? readdirSync(log).flatMap((name) => linesOf(join(log, name))) : linesOf(log);
      if (path === "swarm") assert.deepEqual(readdirSync(log).sort(), ["a.jsonl", "b.jsonl"]);
      const textsOf = (id: string): Set<string> =>
        new Set(ofRun(rows, id).map(({ prompt, response }) => `${prompt} ${response}`));
      // On a busy machine one may have ended before the other begins.
      let fed = 0;
      for (const [run, id, other] of [
        [a, "a", "b"],
        [b, "b", "a"],
      ] as const) {
        assertWhole(rows, run, id);
        assert.deepEqual(metric(run, "replay/published"), Array(STEPS).fill(4));
        assert.deepEqual(
          metric(run, "replay/left_out").filter((count) => count !== 0),
          [],
        );
        const replayed = replayedTexts(run);
        const read = metric(run, "replay/read").some((count) => Number(count) > 0);
        assert.equal(replayed.size > 0, read, `${id} trains on what it read of ${other}`);
        fed += read ? 1 : 0;
        assert.deepEqual(
          [...replayed].filter((text) => !textsOf(other).has(text)),
          [],
        );
      }
      assert.ok(fed > 0, "one of them has read of the other");
      assert.ok(rows.every(({ tokens, logp_old }) => tokens === undefined && logp_old === undefined));
    } finally {
      a.remove();
      b.remove();
    }
  });

test("a run that was killed loses and doubles nothing, wherever it was killed", async () => {
  const { file, log } = project("swarm.jsonl");
  const run = testRun([], file, "a");
  try {
    assert.equal(await run.work(), 0, run.ending());
    const whole = readFileSync(log, "utf8");
    const back = (done: number): void => {
      for (let step = done; step < STEPS; step++)
        rmSync(join(run.folder, "checkpoints", String(step)), { recursive: true, force: true });
    };
    // After a step was published, before a checkpoint knew of it.
    back(3);
    assert.equal(await run.work(1), 0, run.ending(1));
    assert.equal(readFileSync(log, "utf8"), whole);
    assert.deepEqual(metric(run, "replay/published", 1), [0, 0, 0]);
    // In the midst of the write: its last whole line is of the step 4, and half a line follows.
    const lines = whole.split("\n");
    const cut = lines.slice(0, 4 * 4 + 1).join("\n").length + 9;
    truncateSync(log, cut);
    back(3);
    assert.equal(await run.work(2), 0, run.ending(2));
    assert.deepEqual(metric(run, "replay/published", 2), [0, 3, 4]);
    const rows = readFileSync(log, "utf8").split("\n");
    assert.equal(rows.length, lines.length + 1, "the half line stays, alone");
    assert.deepEqual(new Set(rows.filter((text) => text.length !== 8)), new Set(lines));
    // Another run takes each of them up once.
    const other = testRun([], file, "b");
    try {
      assert.equal(await other.work(), 0, other.ending());
      assert.equal(metric(other, "replay/read")[0], STEPS * 4);
      assert.equal(metric(other, "replay/left_out")[0], 1);
    } finally {
      other.remove();
    }
  } finally {
    run.remove();
  }
});

test("tokens are published where tokens are read, and a log that cannot be written ends no run", async () => {
  const { file, log } = project("tokens.jsonl", ", retokenize: false");
  const run = testRun(["steps=2"], file, "a");
  const stuck = testRun(["steps=2", "replay.path=stuck/log.jsonl"], file, "a");
  try {
    assert.equal(await run.work(), 0, run.ending());
    const [first] = linesOf(log);
    assert.equal(first?.tokens?.length, first?.logp_old?.length);
    assert.ok(first?.tokens !== undefined && first.context !== undefined && first.curriculum === undefined);
    writeFileSync(join(log, "..", "stuck"), "a file where the folder would be");
    assert.equal(await stuck.work(), 0, stuck.ending());
    const events = ofKind(stuck.records(), "event").filter(({ name }) => name === "shared-log-unwritten");
    assert.equal(events.length, 2);
    assert.deepEqual(metric(stuck, "replay/published"), [0, 0]);
  } finally {
    run.remove();
    stuck.remove();
  }
});
