/** What a run has shown, on its config's lines, and what an edit of the reward would have changed. */
import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import type { Api } from "../../../extension/extension.ts";
import { activated, config, ready, stopEverything, until } from "../support.ts";

/** Steps after which there is something to say. */
const enough = 40;

describe("what a run has shown, in the editor", () => {
  let api: Api;
  let uri: vscode.Uri;
  const warned: string[] = [];
  before(async () => {
    api = await activated();
    // The suite before this one has ended the daemon.
    for (const store of api.stores.all)
      if (store.machine.state.state === "disconnected") await store.machine.start();
    await ready(api);
    uri = await config("tiny.gradus.yaml");
    const has = (): boolean => api.stores.runs.some(({ step, name }) => name === "tiny" && step >= enough);
    const original = vscode.window.showWarningMessage;
    vscode.window.showWarningMessage = (message: string, ...buttons: unknown[]) => {
      warned.push([message, ...buttons].join("|"));
      return Promise.resolve(undefined);
    };
    await vscode.commands.executeCommand("gradus.run.start", uri);
    // Nobody looks at it.
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
    await until(has, "a run");
    await until(() => warned.some((text) => text.startsWith("tiny, still training")), "an alarm");
    vscode.window.showWarningMessage = original;
    for (const run of api.stores.live) await vscode.commands.executeCommand("gradus.run.stop", run.id);
    await until(() => api.stores.live.length === 0, "the run's end");
    await vscode.window.showTextDocument(uri);
  });
  after(async () => {
    await vscode.commands.executeCommand("workbench.action.files.revert");
    await stopEverything(api);
  });

  const seen = (): readonly vscode.Diagnostic[] =>
    vscode.languages
      .getDiagnostics(uri)
      .filter(({ code }) => String(typeof code === "object" ? code.value : code).startsWith("run-"));
  const replace = async (from: string, to: string): Promise<void> => {
    const document = await vscode.workspace.openTextDocument(uri);
    const at = document.getText().indexOf(from);
    assert.notEqual(at, -1, `${from} is not in the config`);
    const edit = new vscode.WorkspaceEdit();
    edit.replace(uri, new vscode.Range(document.positionAt(at), document.positionAt(at + from.length)), to);
    await vscode.workspace.applyEdit(edit);
  };
  const labels = async (): Promise<readonly string[]> => {
    const document = await vscode.workspace.openTextDocument(uri);
    const whole = new vscode.Range(0, 0, document.lineCount, 0);
    const hints = await vscode.commands.executeCommand<vscode.InlayHint[]>(
      "vscode.executeInlayHintProvider",
      uri,
      whole,
    );
    return hints.map(({ label }) =>
      typeof label === "string" ? label : label.map(({ value }) => value).join(""),
    );
  };

  it("is said once while it trains, where it is an alarm", () => {
    const alarms = warned.filter((text) => text.includes("still training"));
    assert.equal(alarms.length, 1, alarms.join("\n"));
    assert.match(
      alarms[0]!,
      /^tiny, still training: Starved since step \d+.*\|Open Run\|.*Don't Show Again$/,
    );
  });

  it("is on its lines as information, and at their ends", async () => {
    const found = await until(() => seen().length > 0 && seen(), "evidence");
    // A verdict that is an alarm warns; what single values have shown informs.
    const isVerdict = ({ code }: vscode.Diagnostic): boolean =>
      (typeof code === "object" ? code.value : code) === "run-verdict";
    for (const one of found)
      assert.equal(
        one.severity,
        isVerdict(one) ? vscode.DiagnosticSeverity.Warning : vscode.DiagnosticSeverity.Information,
      );
    await until(async () => (await labels()).some((label) => /mean|solved/.test(label)), "a note");
  });

  it("leads to the rollouts", async () => {
    const found = await until(
      () => seen().find(({ relatedInformation }) => (relatedInformation ?? []).length > 0),
      "a finding with rollouts",
    );
    const link = found.relatedInformation?.[0]?.location.uri;
    assert.equal(link?.scheme, "gradus-rollouts");
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      "vscode.executeCodeActionProvider",
      uri,
      found.range,
    );
    const show = actions.find(({ command }) => command?.command === "gradus.rollouts.open");
    assert.ok(show?.command, `no way to the rollouts among ${actions.map(({ title }) => title).join(", ")}`);
    await vscode.commands.executeCommand(show.command.command, ...(show.command.arguments ?? []));
    const document = await until(
      () =>
        vscode.window.activeTextEditor?.document.uri.scheme === "gradus-rollouts" &&
        vscode.window.activeTextEditor.document,
      "the rollouts",
    );
    assert.match(document.getText(), /^tiny · step \d+\n.*\nThose with /);
    await vscode.window.showTextDocument(uri);
  });

  it("says while one types what an edit would have changed, and is silent when it is undone", async () => {
    await replace("use: exact_match", "use: length");
    await until(async () => (await labels()).some((label) => label.includes("flipped")), "the change");
    await replace("use: length", "use: exact_match");
    await until(async () => !(await labels()).some((label) => label.includes("flipped")), "silence");
  });

  it("lays the rollouts that change most side by side", async () => {
    await replace("use: exact_match", "use: length");
    await vscode.commands.executeCommand("gradus.rescore.open", uri.toString());
    const both = (): readonly vscode.TextDocument[] =>
      vscode.workspace.textDocuments.filter((document) => document.uri.scheme === "gradus-rescore");
    await until(() => both().length === 2, "both sides");
    const [before, now] = both().map((document) => document.getText());
    assert.match(before ?? "", /^tiny, run \S+, steps? /);
    assert.notEqual(before, now);
    await vscode.window.showTextDocument(uri);
    await replace("use: length", "use: exact_match");
  });

  it("sweeps a weight", async () => {
    await vscode.commands.executeCommand("gradus.rescore.sweep", uri.toString(), "correct");
    const document = await until(
      () =>
        vscode.window.activeTextEditor?.document.uri.path.includes("/sweep/") === true &&
        vscode.window.activeTextEditor.document,
      "the sweep",
    );
    assert.match(document.getText(), /^The weight of correct, over [\d,]+ rollouts/);
    // A model that has hardly learned is rewarded alike in all groups: then no weight changes anything, and that is said.
    assert.match(document.getText(), /\n▶ +1 {2}|its weight changes no advantage/);
    await vscode.window.showTextDocument(uri);
  });
});
