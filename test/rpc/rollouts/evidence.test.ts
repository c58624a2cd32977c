/** Evidence and live re-scoring through a real daemon, over a run that a real worker recorded. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { DidChangeConfigurationNotification } from "vscode-languageserver-protocol/node";
import { ask } from "../../../shared/daemon/request.ts";
import { commands } from "../../../shared/editor/contributions.ts";
import { rescore, rescoreSweep, rewardCoverage } from "../../../shared/protocol/protocol.ts";
import { openAttempt } from "../../../shared/log/writer.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { end, metrics, start, type Written } from "../../unit/log/sample.ts";
import { EditorClient, positionOf } from "../../support/editorClient.ts";
import { rewardHost } from "../../support/rewardHost.ts";
import { pythonRunText, withoutPython } from "../../support/pythonReward.ts";
import { recordRun } from "../../support/storedRun.ts";
import { until } from "../../support/until.ts";
import { Sandbox } from "../daemon.ts";

const mine = `export function score({ response, length }) { return response.includes("a") ? length / 8 : 0; }\n`;
const text = readFileSync("test/fixtures/evidence/seen.gradus.yaml", "utf8")
  .replace("use: success_band, low: 0.1, high: 0.9", "use: none")
  .replace("    brevity:", "    mine: { use: ./mine.ts, weight: 0.5 }\n    brevity:");

describe("a daemon with a recorded run", () => {
  let box: Sandbox;
  let editor: EditorClient;
  let file = "";
  before(async () => {
    await rewardHost();
    box = await Sandbox.make();
    file = join(dirname(box.file), "seen.gradus.yaml");
    writeFileSync(file, text);
    writeFileSync(join(dirname(file), "mine.ts"), mine);
    await recordRun(box.store, file);
    editor = new EditorClient(await box.link({ role: "editor" }), file);
    await editor.open(text);
  });
  after(() => box.end());

  const said = (): string[] =>
    editor.diagnostics.map(({ message }) => (typeof message === "string" ? message : message.value));
  const rules = (): string[] => editor.diagnostics.map(({ code }) => String(code));
  const labels = (part: string): Promise<string> =>
    until(async () => (await editor.labels()).find((label) => label.includes(part)), `a hint with "${part}"`);
  const quiet = (part: string): Promise<boolean> =>
    until(
      async () => !(await editor.labels()).some((label) => label.includes(part)),
      `no hint with "${part}"`,
    );

  it("says on the lines what the run has shown, with the way to the rollouts", async () => {
    await until(() => rules().includes("run-truncated"), "evidence");
    const found = editor.diagnostics.find(({ code }) => code === "run-truncated");
    assert.match(said().join("\n"), /^`max_tokens: 3` truncated \d+ % of rollouts in 24 steps/m);
    assert.equal(found?.range.start.line, positionOf(text, "max_tokens").line);
    assert.match(
      found?.relatedInformation?.[0]?.location.uri ?? "",
      /^gradus-rollouts:\/one\/33\/seen.*\?finish/,
    );
    const actions = await editor.actions(positionOf(text, "max_tokens"));
    const show = actions.find(({ command }) => command?.command === commands.rolloutsOpen);
    assert.deepEqual(show?.command?.arguments, ["one", 33, 'finish == "length" && use == "train"']);
    assert.match(await labels("solved 2"), /^solved 2: 0 %/);
    assert.match(await editor.hover(positionOf(text, "max_tokens")), /truncated \d+ %/);
    assert.ok(editor.refreshes > 0, "the editor was not asked to look again");
  });

  it("takes it back when the line changes, and says it again when that is undone", async () => {
    await editor.change(text.replace("max_tokens: 3", "max_tokens: 5"));
    await until(() => !rules().includes("run-truncated"), "the finding to go");
    assert.ok(rules().includes("run-constant-term"), "the others stay");
    await editor.change(text);
    await until(() => rules().includes("run-truncated"), "the finding to come back");
  });

  it("is silent when the person wishes so", async () => {
    editor.settings = { enabled: false, window: 100 };
    await editor.connection.sendNotification(DidChangeConfigurationNotification.type, { settings: null });
    await until(() => rules().every((rule) => !rule.startsWith("run-")), "silence");
    editor.settings = { enabled: true, window: 10 };
    await editor.connection.sendNotification(DidChangeConfigurationNotification.type, { settings: null });
    await until(
      () => said().some((message) => message.includes("in the last 10 steps")),
      "evidence of ten steps",
    );
  });

  it("shows what another weight would have changed, and nothing when it is put back", async () => {
    await editor.change(text.replace("weight: 0.5", "weight: -2"));
    const label = await labels("flipped");
    assert.match(label, /^(?:· )?reward \S+ → \S+ · \d+ ranks?, \d+ signs? flipped/);
    const hint = (await editor.hints()).find(
      ({ label: parts }) => typeof parts !== "string" && parts[0]?.command,
    );
    assert.equal(hint?.position.line, positionOf(text, "mine:").line);
    assert.match(JSON.stringify(hint?.tooltip), /Changed most/);
    const actions = await editor.actions(positionOf(text, "mine:"));
    const offered = actions.map(({ command }) => command?.command);
    assert.ok(offered.includes(commands.rescoreOpen) && offered.includes(commands.rescoreSweep));
    await editor.change(text);
    await quiet("flipped");
  });

  it("scores again when the reward's file is another, and stops when it is put back", async () => {
    const path = join(dirname(file), "mine.ts");
    writeFileSync(path, mine.replace("length / 8", "1 - length / 8"));
    assert.match(await labels("mine 0"), /mine \S+ → \S+/);
    writeFileSync(path, mine);
    utimesSync(path, new Date(), new Date());
    await quiet("flipped");
  });

  it("sweeps a weight in its hover, as a picture", async () => {
    const at = positionOf(text, "weight: 0.5", "weight: ".length);
    // The file that was put back may still be read half-written.
    const swept = await until(async () => {
      const said = await editor.hover(at);
      return said.includes("![weight of mine](data:image/svg+xml;base64,") && said;
    }, "the picture");
    assert.match(swept, /signs flipped `[▁-█]+`/);
  });

  it("answers gradus/reward/coverage, with the reward as it is typed, and only where it may be run", async () => {
    const path = join(dirname(file), "mine.ts");
    const typed = "export const score = ({ length }) =>\n  length > 99 ? 1 : 0;\n";
    const asked = { uri: file, trusted: true, unsaved: { [path]: typed } };
    const { coverage } = await ask(editor.connection, rewardCoverage, asked);
    assert.ok(coverage);
    assert.deepEqual([coverage.to, coverage.steps, coverage.of], [33, 24, 24]);
    const [own, ...others] = coverage.files;
    assert.deepEqual([own?.file, others], [path, []]);
    const { rollouts } = coverage;
    assert.deepEqual(own?.lines, [{ line: 1, rollouts }]);
    assert.deepEqual(
      own.branches.map(({ line, exit, rollouts: taken }) => [line, exit, taken]),
      [
        [1, "then", 0],
        [1, "else", rollouts],
      ],
    );
    assert.deepEqual(await ask(editor.connection, rewardCoverage, { uri: box.file, trusted: true }), {
      coverage: null,
    });
    await assert.rejects(
      ask(editor.connection, rewardCoverage, { uri: file }),
      /only a trusted workspace may/,
    );
  });

  it("answers gradus/rescore and gradus/rescore/sweep", async () => {
    const other = text.replace("weight: 0.5", "weight: -2");
    const asked = { uri: editor.uri, text: other, trusted: true };
    const { rescored } = await ask(editor.connection, rescore, asked);
    assert.deepEqual(
      { from: rescored?.from, to: rescored?.to, steps: rescored?.steps, of: rescored?.of },
      { from: 33, to: 33, steps: 1, of: 24 },
    );
    const whole = await ask(editor.connection, rescore, { ...asked, scope: "run" });
    assert.equal(whole.rescored?.steps, 24);
    const path = join(dirname(file), "mine.ts");
    const typed = await ask(editor.connection, rescore, {
      uri: file,
      trusted: true,
      unsaved: { [path]: "export const score = () => 7;" },
    });
    assert.equal(typed.rescored?.change.terms.find(({ term }) => term === "mine")?.now, 7);
    const untrusted = await ask(editor.connection, rescore, {
      uri: file,
      unsaved: { [path]: "export const score = () => 7;" },
    });
    assert.equal(untrusted.rescored?.change.terms.find(({ term }) => term === "mine")?.changed, 0);
    const { sweep } = await ask(editor.connection, rescoreSweep, {
      ...asked,
      text,
      term: "mine",
      from: 0,
      to: 1,
    });
    assert.equal(sweep?.points.find(({ weight }) => weight === 0.5)?.signFlips, 0);
    assert.deepEqual(await ask(editor.connection, rescore, { uri: box.file, text: other }), {
      rescored: null,
    });
    await assert.rejects(
      ask(editor.connection, rescoreSweep, { ...asked, term: "nobody" }),
      /no reward term "nobody"/,
    );
    await assert.rejects(
      ask(editor.connection, rescore, { ...asked, text: "reward: {" }),
      /the config has errors/,
    );
  });
});

describe("a live run", () => {
  it("is followed: what is said of it grows with its steps, and its end is reported", async () => {
    const box = await Sandbox.make();
    try {
      const plain = text.replace(/ {4}mine: .*\n/, "");
      const file = join(dirname(box.file), "live.gradus.yaml");
      writeFileSync(file, plain);
      const folder = join(box.store, "runs", "live");
      mkdirSync(folder, { recursive: true });
      const run = { id: "live", file, name: "live", set: [], createdAt: new Date().toISOString() };
      writeFileSync(join(folder, "run.json"), JSON.stringify(run));
      const editor = new EditorClient(await box.link({ role: "editor" }), file);
      await editor.open(plain);
      const log = openAttempt(folder, 0);
      const config = loadConfig(file, { text: plain }).tree;
      log.append({ ...start(0, null, "live"), file, config, authored: plain } as Written);
      log.commit(-1);
      const said = (part: string): Promise<unknown> =>
        until(() => editor.diagnostics.some(({ message }) => String(message).includes(part)), part);
      for (const step of [0, 1]) {
        log.append(metrics(step, { "rollout/truncated": 0.5 }));
        log.commit(step);
        await said(`truncated 50 % of rollouts in ${step === 0 ? "1 step" : "2 steps"}`);
      }
      log.append(end(1));
      log.commit(1);
      log.close();
      await said("(last run)");
    } finally {
      await box.end();
    }
  });
});

const own = `def compute_score(solution_str, ground_truth):
    return {"score": len(solution_str) / 8, "vowels": sum(c in "aeiou" for c in solution_str)}
`;
describe("a daemon with a run of a Python reward", { skip: withoutPython }, () => {
  let box: Sandbox;
  let editor: EditorClient;
  let path = "";
  before(async () => {
    box = await Sandbox.make();
    const file = join(dirname(box.file), "own.gradus.yaml");
    path = join(dirname(file), "mine.py");
    writeFileSync(file, pythonRunText);
    writeFileSync(path, own);
    await recordRun(box.store, file);
    editor = new EditorClient(await box.link({ role: "editor" }), file);
    await editor.open(pythonRunText);
  });
  after(() => box.end());
  const change = async (unsaved: string): Promise<{ now: unknown; errors: unknown } | undefined> => {
    const asked = {
      uri: editor.uri,
      text: pythonRunText,
      trusted: true,
      scope: "run",
      unsaved: { [path]: unsaved },
    } as const;
    const { rescored } = await ask(editor.connection, rescore, asked);
    const found = rescored?.change.terms.find(({ term }) => term === "mine");
    return found && { now: found.now, errors: found.errors };
  };

  it("scores again what is typed, and what is saved", async () => {
    assert.deepEqual(await change(own.replace("len(solution_str) / 8", "7")), { now: 7, errors: 0 });
    assert.deepEqual(await change(own.replace("/ 8", "/ 0")), { now: null, errors: 24 });
    writeFileSync(path, own.replace("/ 8", "/ 2"));
    const label = await until(
      async () => (await editor.labels()).find((one) => one.includes("mine ")),
      "a hint of the saved file",
    );
    assert.match(label, /mine \S+ → \S+/);
    writeFileSync(path, own);
    utimesSync(path, new Date(), new Date());
    await until(async () => !(await editor.labels()).some((one) => one.includes("mine ")), "no hint");
  });
});
