/** Runs as experiments over the wire: lists by expressions, marks, comparisons, forks that are refused, what could go. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { MessageConnection } from "vscode-jsonrpc/node";
import { ask } from "../../../shared/daemon/request.ts";
import {
  runsCompare,
  runsFork,
  runsGc,
  runsList,
  runsMark,
  subscribe,
} from "../../../shared/protocol/protocol.ts";
import { makeExperiment } from "../../support/experimentRuns.ts";
import { Sandbox, until } from "../daemon.ts";

interface Refusal {
  readonly message: string;
  readonly detail?: { readonly action?: string };
}

describe("a daemon with runs of one config", () => {
  let box: Sandbox;
  let connection: MessageConnection;
  before(async () => {
    box = await Sandbox.make();
    makeExperiment(dirname(box.store), box.store);
    connection = await box.connect();
    await until(async () => {
      const { runs } = await ask(connection, runsList, {});
      return runs.length === 8 && runs.every(({ endedAt }) => endedAt !== null) ? runs : null;
    }, "logs to be read");
  });
  after(() => box.end());

  it("lists those that an expression holds for, and names the place of a mistake", async () => {
    const where = "config.update.optimizer.lr < 5e-6 and eval/pass@1@last > 0.2";
    const { runs } = await ask(connection, runsList, { where, sort: "seed", sparks: 4 });
    assert.deepEqual(
      runs.map(({ id, label, spark }) => [id, label, spark?.length]),
      [
        ["slow-1", "lr 3e-6", 4],
        ["slow-2", "lr 3e-6 · seed 2", 4],
      ],
    );
    await assert.rejects(ask(connection, runsList, { where: "seed == 'a'" }), (error: Refusal) => {
      assert.match(error.message, /character 9 should be a number, like seed/);
      assert.match(error.detail?.action ?? "", /config\.rollout\.group >= 8/);
      return true;
    });
  });

  it("keeps what people say of a run, and tells who follows", async () => {
    const { cursor } = await ask(connection, subscribe, {});
    const marks = await ask(connection, runsMark, { run: "slow-1", tags: ["paper"], archived: true });
    assert.deepEqual(marks, { tags: ["paper"], note: "", pinned: false, archived: true });
    const { changes } = await ask(connection, subscribe, { since: cursor });
    assert.deepEqual(
      changes.map(({ run, summary }) => [run, summary?.tags]),
      [["slow-1", ["paper"]]],
    );
    await ask(connection, runsMark, { run: "slow-1", note: "slow" });
    const { runs } = await ask(connection, runsList, { where: 'tag == "paper"' });
    assert.deepEqual(
      runs.map(({ archived, note }) => [archived, note]),
      [[true, "slow"]],
    );
  });

  it("compares runs, seeds as one", async () => {
    const found = await ask(connection, runsCompare, { runs: ["base-1", "base-2", "slow-2"] });
    assert.deepEqual(
      found.groups.map(({ runs }) => runs),
      [[0, 1], [2]],
    );
    assert.equal(found.heldOut[0]!.method, "paired");
    await assert.rejects(
      ask(connection, runsCompare, { runs: ["base-1", "nothing"] }),
      /There is no run nothing/,
    );
  });

  it("refuses a fork where there is no checkpoint, and starts nothing", async () => {
    await assert.rejects(ask(connection, runsFork, { run: "base-1", step: 3 }), (error: Refusal) => {
      assert.match(error.message, /base-1 has no checkpoint on disk/);
      assert.match(error.detail?.action ?? "", /checkpoint: \{ every, keep \}/);
      return true;
    });
    assert.equal((await ask(connection, runsList, {})).runs.length, 8);
  });

  it("says what could go, and deletes it when asked", async () => {
    const checkpoints = join(box.store, "runs", "base-2", "checkpoints");
    for (const step of ["19", "39"]) {
      mkdirSync(join(checkpoints, step), { recursive: true });
      writeFileSync(join(checkpoints, step, "state.bin"), Buffer.alloc(7));
    }
    const asked = { olderThan: 0 };
    const listed = await ask(connection, runsGc, asked);
    assert.deepEqual(
      listed.garbage.map(({ kind, run, step }) => [kind, run, step]),
      [
        ["run", "slow-1", null],
        ["checkpoint", "base-2", 19],
      ],
    );
    assert.ok(existsSync(join(checkpoints, "19")));
    await ask(connection, runsGc, { ...asked, delete: true });
    assert.deepEqual(
      [existsSync(join(checkpoints, "19")), existsSync(join(checkpoints, "39"))],
      [false, true],
    );
    assert.equal((await ask(connection, runsList, { where: 'id == "slow-1"' })).runs.length, 0);
  });
});
