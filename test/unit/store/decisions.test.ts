/** A curriculum's decisions next to recorded rollouts, as charts of the imported run. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { HookFeed } from "../../../server/store/imported/feeds/hook/hookFeed.ts";
import { importFeed } from "../../../server/store/imported/feeds/importFeed.ts";
import { findSource } from "../../../server/store/imported/findSource.ts";
import { close, newStore, values } from "./support.ts";
import { needs } from "../../support/system.ts";

const out = mkdtempSync(join(tmpdir(), "gradus-decided-"));
after(() => rmSync(out, { recursive: true, force: true }));

const decided = (step: number, share: number, more: object = {}): string =>
  `${JSON.stringify({
    ...{ step, estimates: { easy: share }, probabilities: { easy: 1 }, admitted: [], stage: "rl" },
    metrics: { "curriculum/easy/share": share, "curriculum/easy/estimate": share / 2, other: 9 },
    ...more,
  })}\n`;

const record = `
import sys; sys.path.insert(0, ${JSON.stringify(resolve("server/cli/hook"))}); sys.dont_write_bytecode = True
from gradus_hook import log_rollouts
class State: global_step = 0
@log_rollouts
def right(completions, **kw): return [1.0, 0.0]
for State.global_step in range(3):
    right(prompts=["a", "a"], completions=["x", "y"], gradus=[{"arm": "easy"}] * 2, trainer_state=State())
`;

test(
  "shares and estimates of arms are charts, the reward's own stay, and a step decided again replaces what came after",
  needs.python,
  async () => {
    const rollouts = join(out, "gradus-rollouts");
    const env = { ...process.env, GRADUS_ROLLOUTS: rollouts };
    const made = spawnSync("python3", ["-c", record], { encoding: "utf8", env });
    assert.deepEqual([made.status, made.stderr], [0, ""]);
    mkdirSync(join(out, "curriculum"));
    const file = join(out, "curriculum", "decisions.jsonl");
    appendFileSync(
      file,
      decided(0, 0.1) + decided(1, 0.2) + decided(2, 0.3) + decided(1, 0.6) + decided(2, 0.7),
    );
    appendFileSync(file, '{"step":3,"metr');
    const source = findSource(out);
    assert.ok(source.kind === "feed" && source.trainer === "hook");
    const { folder: store, store: opened } = newStore();
    const request = {
      store,
      folder: out,
      name: "sums",
      copy: false,
      version: "0.0.0",
      progress: () => undefined,
    };
    const { run, rollouts: count } = await importFeed({ ...request, config: undefined }, source.feed);
    assert.equal(count, 6);
    opened.ingestAll(run);
    const share = values(opened, run, "curriculum/easy/share");
    assert.deepEqual(
      [share?.steps, share?.values],
      [
        [1, 2, 3],
        [0.1, 0.6, 0.7],
      ],
    );
    assert.deepEqual(values(opened, run, "curriculum/easy/estimate")?.values, [0.05, 0.3, 0.35]);
    assert.deepEqual(values(opened, run)?.values, [0.5, 0.5, 0.5]);
    assert.deepEqual(values(opened, run, "other")?.steps, []);
    const { groups } = opened.queries.groups({ run, by: "arm", names: [], limit: 10 });
    assert.deepEqual([...new Set(groups.map(({ arm }) => arm))], ["easy"]);
    close(opened);
  },
);

test("a trainer's own number of a step is the step, and lines are read as they come", needs.python, () => {
  const file = join(out, "curriculum", "decisions.jsonl");
  const feed = new HookFeed(join(out, "gradus-rollouts"), { config: undefined });
  feed.next(false);
  appendFileSync(file, `\n${decided(4, 0.4, { trainer_step: 9 })}not JSON\n`);
  appendFileSync(file, decided(5, 0.5, { trainer_step: 11, metrics: {} }));
  const { parts } = feed.next(false);
  assert.deepEqual(
    parts.map(({ step, values: own }) => [step, own]),
    [
      [9, { "curriculum/easy/share": 0.4, "curriculum/easy/estimate": 0.2 }],
      [11, { "curriculum/easy/estimate": 0.5 }],
    ],
  );
  feed.close();
});
