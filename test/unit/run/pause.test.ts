/** What is asked of a run in the middle of a step, on the real engine: the numbers are those of a run that no one asked. */
import assert from "node:assert/strict";
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { essence, ofKind, testRun, type TestRun } from "../../support/runFolder.ts";
import { some } from "../../support/thorough.ts";

/** Steps that take much longer to write than the control file is looked at. */
const long = [
  "model.context=900",
  "stages=[{ name: practice, kind: rl, steps: 3 }]",
  "rollout={ prompts: 2, group: 2, max_tokens: 860, min_tokens: 800 }",
  "evaluation={ every: 100, prompts: 1, pass_at: [1], samples: 1 }",
  "curriculum.sampler=boltzmann",
  "tasks.0.lengths=[1, 2]",
  "checkpoint={ every: 100, keep: 9 }",
];

/** The run that no one asks anything. */
const straight = testRun(long);
before(() => straight.work());
after(() => straight.remove());

const ask = (run: TestRun, ...lines: readonly object[]): void =>
  appendFileSync(
    join(run.folder, "control.jsonl"),
    lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  );
const saidTo = (run: TestRun, id: string): string | undefined =>
  ofKind(run.records(), "acknowledge").find((record) => record.id === id)?.message;

/** Works on a run, calling `look` again and again while it does: whatever that sees was written, and tokens are under way. */
async function watched(run: TestRun, look: () => void): Promise<number> {
  const timer = setInterval(look, 5);
  try {
    return await run.work();
  } finally {
    clearInterval(timer);
  }
}
/** Calls each action once, in order, as soon as what it waits for is true. */
const inTurn = (...turns: readonly (readonly [when: () => boolean, then: () => void])[]): (() => void) => {
  let next = 0;
  return () => {
    const turn = turns[next];
    if (turn === undefined || !turn[0]()) return;
    next += 1;
    turn[1]();
  };
};
const hasDone = (run: TestRun, step: number): boolean =>
  existsSync(join(run.folder, "log")) &&
  ofKind(run.records(), "metrics").some((record) => record.step === step);

test("a pause holds between two tokens and goes on with the same numbers; a checkpoint then is of the boundary", async () => {
  const paused = testRun(long);
  try {
    let waited = 0;
    const code = await watched(
      paused,
      inTurn(
        [() => hasDone(paused, 0), () => ask(paused, { id: "p", action: "pause" })],
        [() => saidTo(paused, "p") !== undefined, () => ask(paused, { id: "k", action: "checkpoint" })],
        [() => saidTo(paused, "k") !== undefined, () => undefined],
        // Ten looks later nothing has moved.
        [() => ++waited > 10, () => assert.equal(hasDone(paused, 1), false)],
        [() => true, () => ask(paused, { id: "c", action: "continue" })],
      ),
    );
    assert.equal(code, 0, paused.ending());
    assert.equal(saidTo(paused, "p"), "Paused in step 1.");
    assert.equal(saidTo(paused, "k"), "Checkpoint written after step 0.");
    assert.equal(saidTo(paused, "c"), "Going on.");
    assert.deepEqual(essence(paused.records(), 0), essence(straight.records(), 0));
    const [was, is] = [straight, paused].map(
      (run) => ofKind(run.records(), "metrics").find(({ step }) => step === 1)!.values,
    );
    assert.ok(Number(is!["time/total"]) < 3 * Number(was!["time/total"]) + 1, "the pause is nobody's time");
    // Everything drawn for step 1 is forgotten in the checkpoint: a run from it draws it again.
    assert.equal(await paused.work(1), 0, paused.ending(1));
  } finally {
    paused.remove();
  }
});

test("stopped in the middle of a step, paused or not, a run goes on from the boundary with the same numbers", async () => {
  for (const pause of some([true, false], 1)) {
    const stopped = testRun(long);
    try {
      const code = await watched(
        stopped,
        inTurn(
          [
            () => hasDone(stopped, 1),
            () =>
              ask(
                stopped,
                { id: "p", action: pause ? "pause" : "checkpoint" },
                ...(pause ? [] : [{ id: "s", action: "stop" }]),
              ),
          ],
          [() => saidTo(stopped, "p") !== undefined, () => ask(stopped, { id: "s", action: "stop" })],
        ),
      );
      assert.equal(code, 0, stopped.ending());
      assert.equal(ofKind(stopped.records(), "end")[0]!.status, "stopped");
      assert.equal(saidTo(stopped, "s"), "Stopping after step 1.");
      assert.equal(await stopped.work(1), 0, stopped.ending(1));
      assert.equal(ofKind(stopped.records(1), "start")[0]!.resumed_at, 2);
      assert.equal(
        essence(stopped.records(), 0).length + essence(stopped.records(1), 2).length,
        essence(straight.records(), 0).length,
      );
      assert.deepEqual(essence(stopped.records(1), 2), essence(straight.records(), 2));
    } finally {
      stopped.remove();
    }
  }
});

test("a value that is set in a pause holds for the whole of the step, which begins again; the pause stays", async () => {
  const run = testRun(long);
  try {
    let goneOn = false;
    const code = await watched(
      run,
      inTurn(
        [() => hasDone(run, 1), () => ask(run, { id: "p", action: "pause" })],
        [
          () => saidTo(run, "p") !== undefined,
          () => ask(run, { id: "v", action: "set", path: "rollout.top_k", value: 5 }),
        ],
        [
          () => saidTo(run, "v") !== undefined,
          () => {
            goneOn = ofKind(run.records(), "event").some(({ name }) => name === "continued");
            ask(run, { id: "c", action: "continue" });
          },
        ],
      ),
    );
    assert.equal(code, 0, run.ending());
    assert.equal(saidTo(run, "p"), "Paused in step 2.");
    assert.match(saidTo(run, "v")!, /rollout\.top_k is 5 from step 2 on/);
    assert.equal(goneOn, false);
    const apart = (step: number): number => {
      const rows = ofKind(run.records(), "rollout").filter(
        (record) => record.step === step && record.row.use === "train",
      );
      return Math.max(
        ...rows.flatMap(({ columns: { logp_old, logp_sampled } }) =>
          [...logp_old!].map((logp, token) => Math.abs(logp - logp_sampled![token]!)),
        ),
      );
    };
    assert.ok(apart(1) < 1 && apart(2) > 2, "step 2 was drawn from five tokens");
  } finally {
    run.remove();
  }
});
