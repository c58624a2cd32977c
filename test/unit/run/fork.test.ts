/** A run from another's checkpoint: what it takes along, what it refuses, and that it trains on from there. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { prepareFork } from "../../../server/daemon/experiments/fork.ts";
import { makeRunFolder } from "../../../server/daemon/runs/newRun.ts";
import { takeCheckpoint } from "../../../server/run/checkpoint/fork.ts";
import { work } from "../../../server/run/loop/worker.ts";
import { runFolder } from "../../../server/store/files.ts";
import { Store } from "../../../server/store/store.ts";
import type { ParamsOf, RunDetail, runsFork } from "../../../shared/protocol/protocol.ts";
import { recordRun } from "../../support/storedRun.ts";
import { essence, ofKind, readLog } from "../../support/runFolder.ts";

const text = `name: tiny
model: { base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 32 }
tasks: [{ env: reverse_text, lengths: [2] }]
curriculum: { sampler: { use: boltzmann, temperature: 0.5 } }
rollout: { prompts: 2, group: 2, max_tokens: 4 }
reward: { terms: { correct: exact_match } }
kl: [{ model: reference, coefficient: 0.01 }]
update: { optimizer: { use: adamw, lr: 1.0e-3 } }
stages:
  - { name: warm-up, kind: sft, steps: 2, batch: 4 }
  - { name: practice, steps: 6 }
evaluation: { every: 3, prompts: 4, pass_at: [1] }
checkpoint: { every: 2, keep: 10 }
seed: 1
`;
const base = realpathSync(mkdtempSync(join(tmpdir(), "gradus-fork-")));
const [file, folder] = [join(base, "tiny.gradus.yaml"), join(base, ".gradus")];
let store: Store;
let parent: RunDetail;
before(async () => {
  writeFileSync(file, text);
  await recordRun(folder, file);
  store = new Store(folder, { anyThread: true });
  store.ingestAll("one");
  parent = store.queries.show({ run: "one" });
});
after(() => {
  store.close();
  rmSync(base, { recursive: true, force: true });
});

type Wish = Partial<ParamsOf<typeof runsFork>>;
const prepared = (wish: Wish = {}) => prepareFork(parent, { run: "one", set: [], fresh: false, ...wish });

/** As the daemon does, in this process. */
async function forked(wish: Wish): Promise<{ id: string; folder: string }> {
  const { name, text: own, step, loop, ...asked } = prepared(wish);
  const id = makeRunFolder(
    folder,
    name,
    { ...asked, parent: { run: "one", step }, ...(wish.fresh === true ? { fresh: true } : {}) },
    own,
    (to) => takeCheckpoint(parent.folder, to, step, loop),
  );
  assert.equal(await work({ folder: runFolder(folder, id), attempt: 0, version: "0.0.0" }), 0);
  return { id, folder: runFolder(folder, id) };
}

test("a fork begins with the nearest checkpoint at or before the step, and says which", () => {
  assert.deepEqual(
    parent.checkpoints.map(({ step }) => step),
    [1, 3, 5, 7],
  );
  assert.equal(prepared({ step: 4 }).step, 3);
  assert.equal(prepared({ step: 5 }).step, 5);
  assert.throws(
    () => prepared({ step: 0 }),
    /no checkpoint at or before step 0: those on disk are of steps 1, 3, 5, 7/,
  );
  assert.throws(() => prepared(), /at the end of the config's stages: no step is left/);
  const longer = join(base, "longer.gradus.yaml");
  writeFileSync(longer, text.replace("evaluation:", "  - { name: more, steps: 2 }\nevaluation:"));
  assert.equal(prepared({ file: longer }).step, 7);
  assert.throws(
    () => prepared({ step: 5, set: ["stages.practice.steps=4"] }),
    /Give stage practice more|no step is left/,
  );
});

test("what the checkpoint's state cannot follow is refused, with the key", () => {
  assert.throws(() => prepared({ step: 3, set: ["model.width=32"] }), /model\.width was 16 in one and is 32/);
  assert.throws(
    () => prepared({ step: 3, set: ["curriculum.sampler.temperature=1"] }),
    (error: Error & { detail?: { action?: string } }) =>
      /curriculum\.sampler\.temperature was 0\.5 and is 1/.test(error.message) &&
      /model\.base: .*checkpoints.3.policy/.test(error.detail?.action ?? ""),
  );
  const other = join(base, "other.gradus.yaml");
  writeFileSync(other, text.replace("name: practice", "name: harder"));
  assert.throws(
    () => prepared({ step: 3, file: other }),
    /in stage practice of one, but stage 2 of the config is harder/,
  );
  writeFileSync(other, text.replace("group: 2", "group: 0"));
  assert.throws(() => prepared({ step: 3, file: other }), /The config has errors/);
});

test("an unchanged fork makes the very steps that its parent made from there", async () => {
  const child = await forked({ step: 3 });
  const own = readLog(child.folder, 0);
  const [start] = ofKind(own, "start");
  assert.equal(start!.resumed_at, 4);
  const trained = (records: ReturnType<typeof readLog>): unknown =>
    essence(
      records.filter(({ kind }) => kind === "metrics" || kind === "group"),
      4,
    );
  assert.deepEqual(trained(own), trained(readLog(parent.folder, 0)));
  // Its own first evaluation is of where it begins, and its log names the stage.
  assert.deepEqual(
    ofKind(own, "evaluation").map(({ role, step }) => [role, step]),
    [
      ["first", 3],
      ["periodic", 4],
      ["last", 7],
    ],
  );
  assert.deepEqual(
    ofKind(own, "stage").map(({ name, step }) => [name, step]),
    [["practice", 4]],
  );
  store.ingestAll(child.id);
  assert.deepEqual(store.queries.summary(child.id)!.parent, { run: "one", step: 3 });
  // The parent keeps what is its own.
  rmSync(child.folder, { recursive: true });
  assert.ok(existsSync(join(parent.folder, "checkpoints", "3", "state.json")));
});

test("an edited fork trains by the new values, with another optimiser and reward too", async () => {
  const child = await forked({
    step: 3,
    set: [
      "update.optimizer.use=sgd",
      "update.optimizer.lr=0.01",
      "reward.terms.short={use: exact_match, weight: 0.1}",
      "rollout.group=3",
    ],
    seed: 9,
  });
  const records = readLog(child.folder, 0);
  const rollouts = ofKind(records, "rollout").filter(({ row }) => row.use === "train");
  assert.equal(rollouts.length, 4 * 2 * 3);
  assert.ok(ofKind(records, "metrics").every(({ values }) => "reward/short" in values));
});

test("a finished run goes on where its last stage gets more steps, and its parent's checkpoint stays as it was", async () => {
  const before = readFileSync(join(parent.folder, "checkpoints", "7", "state.json"), "utf8");
  const child = await forked({ set: ["stages.practice.steps=9"] });
  const steps = ofKind(readLog(child.folder, 0), "metrics").map(({ step }) => step);
  assert.deepEqual(steps, [8, 9, 10]);
  assert.equal(readFileSync(join(parent.folder, "checkpoints", "7", "state.json"), "utf8"), before);
});

test("a part with a memory may be changed where that memory is to start from zero, and the log says so", async () => {
  const child = await forked({ step: 3, set: ["curriculum.sampler.temperature=1"], fresh: true });
  const [event] = ofKind(readLog(child.folder, 0), "event").filter(({ name }) => name === "state-fresh");
  assert.match(
    event!.message,
    /starts from zero, as was asked for: the curriculum of .*temperature was 0\.5 and is 1/,
  );
  // From its own checkpoints on it is a run like any other.
  assert.equal(await work({ folder: child.folder, attempt: 1, version: "0.0.0" }), 0);
  assert.deepEqual(
    ofKind(readLog(child.folder, 1), "event").filter(({ name }) => name === "state-fresh"),
    [],
  );
});
