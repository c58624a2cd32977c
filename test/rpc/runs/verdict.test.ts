import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { MessageConnection } from "vscode-jsonrpc/node";
import { ask } from "../../../shared/daemon/request.ts";
import { rolloutsQuery, runsList, runsVerdict } from "../../../shared/protocol/protocol.ts";
import { writeCollapsedRun } from "../../support/collapsedRun.ts";
import { Sandbox } from "../daemon.ts";

describe("the verdict on a run that was rewarded for saying nothing", () => {
  let box: Sandbox;
  let connection: MessageConnection;
  let run: string;
  before(async () => {
    box = await Sandbox.make();
    run = writeCollapsedRun(box.store, box.file);
    connection = await box.connect();
    await box.reach(connection, run, ({ status }) => status === "finished");
  });
  after(() => box.end());

  it("names the term that caused it, since when, and what to change with what recorded rollouts say of it", async () => {
    const { verdict } = await ask(connection, runsVerdict, { run });
    assert.equal(verdict?.state, "collapsed");
    assert.ok(verdict.since! >= 20 && verdict.since! <= 36, String(verdict.since));
    assert.deepEqual(verdict.cause, { term: "brevity", key: "reward.terms.brevity", shown: true });
    assert.match(verdict.headline, /^Collapsed at step \d+ because of `brevity`\.$/);
    const [gate, out] = verdict.fixes;
    assert.deepEqual(gate?.set, [{ path: "reward.combine", value: "product" }]);
    assert.match(gate?.effect ?? "", /^re-scored, [\d,]+ rollouts: reward 0\.\d+ → /);
    assert.deepEqual(out?.set, [{ path: "reward.terms.brevity.weight", value: 0 }]);
    assert.match(out?.effect ?? "", /no longer train|change sign/);
    assert.deepEqual(
      verdict.timeline
        .map(({ state }) => state)
        .filter((state, i, all) => state !== all[i - 1])
        .at(-1),
      "collapsed",
    );
  });

  it("shows rollouts that are there", async () => {
    const { verdict } = await ask(connection, runsVerdict, { run });
    assert.ok(verdict!.rollouts.length > 0);
    for (const { step, group, index } of verdict!.rollouts) {
      const { rollouts } = await ask(connection, rolloutsQuery, { run, step });
      assert.ok(rollouts.some((row) => row.group === group && row.index === index));
    }
  });

  it("of a step is what it was then, and the list says the last", async () => {
    const early = await ask(connection, runsVerdict, { run, to: 15 });
    assert.equal(early.verdict?.state, "too early");
    assert.equal(early.verdict?.step, 15);
    const { runs } = await ask(connection, runsList, {});
    const { verdict } = runs.find(({ id }) => id === run)!;
    assert.equal(verdict?.state, "collapsed");
    assert.match(verdict.label, /^collapsed at \d+$/);
  });
});
