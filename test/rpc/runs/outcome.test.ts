/** A run whose reward throws, made by a real worker, as every client of a real daemon hears of it. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, describe, it } from "node:test";
import type { MessageConnection } from "vscode-jsonrpc/node";
import { ask } from "../../../shared/daemon/request.ts";
import {
  configLens,
  metricsSeries,
  rewardCheck,
  rewardErrors,
  rolloutsQuery,
  runsList,
} from "../../../shared/protocol/protocol.ts";
import { EditorClient } from "../../support/editorClient.ts";
import { rewardHost } from "../../support/rewardHost.ts";
import { recordRun } from "../../support/storedRun.ts";
import { until } from "../../support/until.ts";
import { Sandbox } from "../daemon.ts";

const reward = `interface Asked { readonly index: number }
export function score({ index }: Asked): number {
  if (index === 0) JSON.parse("no JSON");
  throw new RangeError("no answer");
}
`;
const text = `name: thrown
model: { base: tiny, width: 32, layers: 2, heads: 2, hidden: 64, context: 48 }
tasks: [{ env: reverse_text, lengths: [2] }]
rollout: { prompts: 2, group: 4, max_tokens: 3 }
curriculum: { admission: none }
reward:
  terms:
    correct: { use: exact_match, weight: { schedule: linear, from: 1, to: 0.5, over: 2 } }
    bad: ./bad.ts
  max_failed_steps: 0
evaluation: { every: 50, prompts: 4, pass_at: [1] }
steps: 3
seed: 1
`;

describe("a daemon with a run whose reward throws", () => {
  let box: Sandbox;
  const output = async (...words: string[]): Promise<string> => (await box.finish(...words)).stdout;
  let connection: MessageConnection;
  let bad = "";
  let file = "";
  before(async () => {
    await rewardHost();
    box = await Sandbox.make();
    file = join(dirname(box.file), "thrown.gradus.yaml");
    bad = join(dirname(box.file), "bad.ts");
    writeFileSync(file, text);
    writeFileSync(bad, reward);
    await recordRun(box.store, file, [], "thrown");
    connection = await box.connect();
    const detail = await box.reach(
      connection,
      "one",
      ({ status }) => status !== "running" && status !== "starting",
    );
    assert.equal(detail.status, "finished", detail.message ?? "");
  });
  after(() => box.end());

  it("groups what threw by message, with the user's own line", async () => {
    const { failures, failed, rollouts } = await ask(connection, rewardErrors, { run: "one" });
    assert.equal(rollouts, 24);
    assert.deepEqual(failed, { bad: 24 });
    const [most, least] = failures;
    assert.deepEqual(
      {
        term: most?.term,
        message: most?.message,
        count: most?.count,
        first: most?.first,
        last: most?.last,
        line: most?.line,
      },
      { term: "bad", message: "threw RangeError: no answer", count: 18, first: 0, last: 2, line: 4 },
    );
    assert.equal(most?.file, bad);
    assert.deepEqual(
      { count: least?.count, line: least?.line, file: least?.file },
      { count: 6, line: 3, file: bad },
    );
    assert.match(least?.message ?? "", /^threw SyntaxError: /);
  });

  it("is finished, and each that asks learns that it trained nothing", async () => {
    const { runs } = await ask(connection, runsList, {});
    assert.equal(runs[0]?.status, "finished");
    const warnings = runs[0]?.warnings ?? [];
    assert.deepEqual(
      warnings.map(({ label }) => label),
      ["nothing trained", "every reward failed"],
    );
    assert.match(
      warnings[0]?.message ?? "",
      /^Nothing was trained in the 3 steps with rollouts: `bad` failed on all 24 rollouts: threw RangeError: no answer \(bad\.ts:4\), and 1 other message\.$/,
    );
    const lens = await ask(connection, configLens, { uri: pathToFileURL(file).href });
    assert.deepEqual(lens.lastRun?.warnings, warnings);
  });

  it("says so in the terminal", async () => {
    assert.match(await output("runs"), /one +finished +3\/3 .*✖ nothing trained/);
    assert.match(await output("runs", "show", "one"), /✖ Nothing was trained in the 3 steps/);
    const followed = await output("runs", "follow", "one");
    assert.match(followed, /finished after 3 steps[\s\S]*✖ Nothing was trained in the 3 steps/);
    const lines = (await output("runs", "follow", "one", "--json")).trim().split("\n");
    const summary: { status: string; warnings: { reason: string }[] } = JSON.parse(lines.at(-1) ?? "");
    assert.deepEqual(
      { status: summary.status, reason: summary.warnings[0]?.reason },
      { status: "finished", reason: "nothing-trained" },
    );
    assert.match(
      await output("runs", "export", "one", "--to", "report"),
      /\*\*Verdict:\*\* Nothing was trained/,
    );
  });

  it("puts a warning on the term, with the message and a link to the line that threw", async () => {
    const editor = new EditorClient(await box.link({ role: "editor" }), file);
    await editor.open(text);
    const found = await until(
      () => editor.diagnostics.find(({ code }) => code === "run-term-errors"),
      "the finding",
    );
    assert.equal(found.severity, 2);
    assert.match(
      String(found.message),
      /`bad` failed on 24 of 24 rollouts in 3 steps, most recently in step 2: threw RangeError: no answer \(bad\.ts:4\), and 1 other message\./,
    );
    const [first, second] = found.relatedInformation ?? [];
    assert.deepEqual(
      { uri: first?.location.uri, line: first?.location.range.start.line },
      { uri: pathToFileURL(bad).href, line: 3 },
    );
    assert.equal(second?.location.range.start.line, 2);
    assert.match(found.relatedInformation?.at(-1)?.location.uri ?? "", /^gradus-rollouts:/);
  });

  it("records the weight that acts at every step, and on every rollout", async () => {
    const { series } = await ask(connection, metricsSeries, {
      run: "one",
      metrics: ["reward/correct/weight", "reward/bad/weight", "rollout/count", "rollout/scored"],
    });
    assert.deepEqual(
      series.map(({ values }) => values),
      [
        [1, 0.75, 0.5],
        [1, 1, 1],
        [8, 8, 8],
        [0, 0, 0],
      ],
    );
    const { rollouts } = await ask(connection, rolloutsQuery, {
      run: "one",
      step: 1,
      where: 'use == "train"',
    });
    assert.deepEqual(rollouts[0]?.weights, { correct: 0.75, bad: 1 });
  });

  it("is reported at the lines that threw, as long as the file is the run's", async () => {
    const asked = { uri: file, recorded: true };
    const { findings } = await ask(connection, rewardCheck, asked);
    assert.deepEqual(
      (findings ?? []).map(({ file: at, line, check }) => [at, line, check]),
      [
        [bad, 3, "run"],
        [bad, 2, "run"],
      ],
    );
    assert.equal(
      findings?.[0]?.message,
      "`bad` failed on 18 rollouts of the last run (thrown, steps 0 to 2): threw RangeError: no answer",
    );
    writeFileSync(bad, reward.replace("no answer", "none"));
    assert.deepEqual((await ask(connection, rewardCheck, asked)).findings, []);
    writeFileSync(bad, reward);
    assert.equal((await ask(connection, rewardCheck, asked)).findings?.length, 2);
  });
});
