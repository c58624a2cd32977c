/** The reward of a verl project with an imported run, while it is edited: re-scored, checked on save, attacked. */
import * as assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import type { Api } from "../../../extension/extension.ts";
import { openAttempt } from "../../../shared/log/writer.ts";
import { end, event, start, type Written } from "../../unit/log/sample.ts";
import { activated, config, id, ready, stopEverything, until } from "../support.ts";

/** Rows of JSON, whose lines can have diagnostics: of `1,234` the reward keeps no comma. */
const sums = `name: sums
tasks: [{ dataset: sums.jsonl, prompt: "{q}", answer: "{a}" }]
reward: { terms: { score: ./reward.py } }
`;
const rows = ["3", "1,234", "5"].map((a, i) => JSON.stringify({ q: `Sum ${i}?`, a })).join("\n");

describe("a verl project's reward, in the editor", () => {
  let api: Api;
  let folder = "";
  let reward: vscode.TextDocument;
  let original = "";
  before(async () => {
    const script = await config("run.sh");
    folder = vscode.Uri.joinPath(script, "..").fsPath;
    // What makes the window look: no file here is of Gradus.
    await vscode.window.showTextDocument(script);
    api = await activated();
    reward = await vscode.workspace.openTextDocument(join(folder, "reward.py"));
    original = reward.getText();
    await vscode.window.showTextDocument(reward);
  });
  after(() => stopEverything(api));

  const write = async (text: string): Promise<void> => {
    const edit = new vscode.WorkspaceEdit();
    const end = reward.lineAt(reward.lineCount - 1).range.end;
    edit.replace(reward.uri, new vscode.Range(new vscode.Position(0, 0), end), text);
    await vscode.workspace.applyEdit(edit);
  };
  const hints = async (): Promise<readonly string[]> => {
    const found = await vscode.commands.executeCommand<vscode.InlayHint[]>(
      "vscode.executeInlayHintProvider",
      reward.uri,
      new vscode.Range(0, 0, reward.lineCount, 0),
    );
    return found.map(({ label }) =>
      typeof label === "string" ? label : label.map(({ value }) => value).join(""),
    );
  };
  const found = (name: string): readonly vscode.Diagnostic[] =>
    vscode.languages
      .getDiagnostics(vscode.Uri.file(join(folder, name)))
      .filter(({ source, code }) => source === "Gradus" && String(code).startsWith("reward-"));
  const lineWith = (text: string): number =>
    reward
      .getText()
      .split("\n")
      .findIndex((line) => line.includes(text));
  const functionLine = (): number => lineWith("def ");

  it("is connected as soon as a command line has imported its run", async () => {
    assert.equal(api.stores.state, "none");
    const root = vscode.extensions.getExtension(id)!.extensionPath;
    cpSync(join(root, "test", "fixtures", "imported", "verl"), join(folder, "out"), { recursive: true });
    execFileSync(
      process.execPath,
      [join(root, "dist", "cli.mjs"), "runs", "import", "out", "--config", "run.sh"],
      { cwd: folder, env: { ...process.env, ELECTRON_RUN_AS_NODE: "1" }, stdio: "pipe" },
    );
    await ready(api);
    await until(() => api.stores.runs.some(({ status }) => status === "finished"), "the imported run");
  });

  it("shows what each edit changes over the imported rollouts", async () => {
    await write(original.replace("else format_score", "else -0.5"));
    const first = await until(
      async () => (await hints()).find((label) => label.startsWith("reward ")),
      "a hint",
    );
    await write(original.replace("else format_score", "else -0.25"));
    await until(
      async () => (await hints()).some((one) => one.startsWith("reward ") && one !== first),
      "the hint of the next edit",
    );
  });

  it("has a hole on its line and the data's wrong row on the data's, once it is saved, until both are fixed", async () => {
    writeFileSync(join(folder, "sums.jsonl"), `${rows}\n`);
    writeFileSync(join(folder, "sums.gradus.yaml"), sums);
    await write(original.replace("return 0.0", "return 0.5"));
    await reward.save();
    const [hole] = await until(() => found("reward.py").length > 0 && found("reward.py"), "the hole");
    assert.match(hole?.message ?? "", /^`score`: The empty answer scores 0\.5/);
    assert.equal(hole?.range.start.line, lineWith("return 0.5"));
    const [row] = await until(() => found("sums.jsonl").length > 0 && found("sums.jsonl"), "the wrong row");
    assert.match(row?.message ?? "", /^The reference answer "1,234" does not succeed: score 0\.$/);
    assert.equal(row?.range.start.line, 1);
    await write(original.replace("== ground_truth", '== ground_truth.replace(",", "")'));
    await reward.save();
    await until(() => found("reward.py").length === 0 && found("sums.jsonl").length === 0, "no diagnostic");
  });

  it("has what its last run threw on the line that threw", async () => {
    const run = join(folder, ".gradus", "runs", "threw");
    mkdirSync(run, { recursive: true });
    const file = join(folder, "sums.gradus.yaml");
    const path = reward.fileName;
    writeFileSync(join(run, "run.json"), JSON.stringify({ id: "threw", file, name: "sums", set: [] }));
    const log = openAttempt(run, 0);
    // It began after the last save, so the file is the run's.
    const more = { file, authored: sums, bundles: { score: "" }, started_at: "2100-01-01T00:00:00Z" };
    const terms = { score: { use: `${path}:compute_score` } };
    log.append({ ...start(0, null, "threw"), ...more, config: { reward: { terms } } } as Written);
    const message = `Reward term score failed: ${path}:compute_score: threw ValueError: no sum (reward.py:12) (6 rollouts)`;
    log.append({ ...event(0), name: "reward-error", message, data: { count: 6 } } as Written);
    log.append(end(0));
    log.commit(0);
    log.close();
    await until(() => api.stores.runs.some(({ id: one }) => one === "threw"), "the run");
    await write(original);
    await reward.save();
    const threw = await until(
      () => found("reward.py").find(({ code }) => code === "reward-run"),
      "what it threw",
    );
    assert.equal(threw.range.start.line, 11);
    assert.match(
      threw.message,
      /^`score` failed on 6 rollouts of the last run \(.*\): threw ValueError: no sum$/,
    );
  });

  it("is attacked from its line, and what that finds is a file of failing tests", async () => {
    await write(original.replace("return 0.0", 'return 1.0 if "step" in solution_str else 0.0'));
    await reward.save();
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      "vscode.executeCodeActionProvider",
      reward.uri,
      reward.lineAt(functionLine()).range,
    );
    const search = actions.find(({ title }) => title === "Search for answers that this reward overpays");
    assert.ok(search?.command, `no attack among ${actions.map(({ title }) => title).join(", ")}`);
    await vscode.commands.executeCommand(search.command.command, ...(search.command.arguments ?? []), 2);
    const tests = join(folder, "reward.reward.test.jsonl");
    assert.equal(vscode.window.activeTextEditor?.document.fileName, tests);
    assert.match(readFileSync(tests, "utf8"), /"response":".*"expect":\{/);
  });
});
