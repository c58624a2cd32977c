import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import type { MessageConnection } from "vscode-jsonrpc/node";
import { ask } from "../../../shared/daemon/request.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { configSet, rolloutsQuery, runsList, runsVerdict } from "../../../shared/protocol/protocol.ts";
import { loadConfig } from "../../../server/rules/load.ts";
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

  it("writes its fix into the config, and refuses one where the text has no place for it", async () => {
    const { verdict } = await ask(connection, runsVerdict, { run });
    const [{ set } = { set: [] }] = verdict!.fixes;
    const [file, text] = [box.file, readFileSync(box.file, "utf8")];
    const changed = await ask(connection, configSet, { file, text, set: [...set] });
    const { config } = loadConfig(file, { text: changed.text });
    assert.equal(config?.top.reward.combine.declaration.name, "product");
    assert.equal(readFileSync(file, "utf8"), text, "the file is the editor's to change");
    const elsewhere = "shared: &shared { terms: { correct: equation } }\nreward: *shared\n";
    await assert.rejects(ask(connection, configSet, { file, text: elsewhere, set: [...set] }), (error) => {
      assert.ok(error instanceof UserError);
      assert.match(error.message, /no safe place to set `reward\.combine`/);
      assert.equal(error.detail.file, file);
      assert.match(
        error.detail.action ?? "",
        /^Write `reward\.combine: "product"` where the value comes from/,
      );
      return true;
    });
  });

  it("shows rollouts that are there", async () => {
    const { verdict } = await ask(connection, runsVerdict, { run });
    assert.ok(verdict!.rollouts.length > 0);
    for (const { step, group, index } of verdict!.rollouts) {
      const { rollouts } = await ask(connection, rolloutsQuery, { run, step });
      assert.ok(rollouts.some((row) => row.group === group && row.index === index));
    }
    // Those of the last step are all empty, so that none of them is pushed anywhere.
    assert.deepEqual(new Set(verdict!.rollouts.map(({ step }) => step)), new Set([verdict!.since]));
    const [most] = verdict!.rollouts;
    const { rollouts } = await ask(connection, rolloutsQuery, { run, step: most!.step });
    const advantages = rollouts.map(({ advantage }) => Number(advantage ?? 0));
    assert.ok(Math.max(...advantages) > 1);
    const shown = rollouts.find(({ group, index }) => group === most!.group && index === most!.index);
    assert.equal(shown?.advantage, Math.max(...advantages));
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
