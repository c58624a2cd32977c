import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import { activated, config, ready, stopEverything, until } from "../support.ts";

describe("a config in the editor", function () {
  this.timeout(60_000);
  let uri: vscode.Uri;
  before(async () => {
    const api = await activated();
    await ready(api);
    uri = await config("tiny.gradus.yaml");
    await vscode.window.showTextDocument(uri);
  });
  after(async () => stopEverything(await activated()));

  const problems = () =>
    vscode.languages
      .getDiagnostics(uri)
      .filter(({ severity }) => severity === vscode.DiagnosticSeverity.Error);
  const replace = async (from: string, to: string): Promise<void> => {
    const document = await vscode.workspace.openTextDocument(uri);
    const at = document.getText().indexOf(from);
    assert.notEqual(at, -1, `${from} is not in the config`);
    const edit = new vscode.WorkspaceEdit();
    edit.replace(uri, new vscode.Range(document.positionAt(at), document.positionAt(at + from.length)), to);
    await vscode.workspace.applyEdit(edit);
  };

  it("is in our language and starts without problems", async () => {
    const document = await vscode.workspace.openTextDocument(uri);
    assert.equal(document.languageId, "gradus-yaml");
    await until(() => problems().length === 0, "no problems");
  });

  it("has a squiggle on an unknown name, with a fix that mends it", async () => {
    await replace("use: exact_match", "use: exact_mach");
    const [problem] = await until(() => (problems().length > 0 ? problems() : undefined), "a problem");
    assert.ok(problem);
    const document = await vscode.workspace.openTextDocument(uri);
    assert.match(document.getText(problem.range), /exact_mach/);
    assert.match(problem.message, /exact_match/);
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      "vscode.executeCodeActionProvider",
      uri,
      problem.range,
      vscode.CodeActionKind.QuickFix.value,
    );
    const fix = actions.find((action) => action.edit !== undefined);
    assert.ok(fix?.edit, `no fix among ${actions.map(({ title }) => title).join(", ")}`);
    await vscode.workspace.applyEdit(fix.edit);
    await until(() => problems().length === 0, "the problem to go");
    assert.match((await vscode.workspace.openTextDocument(uri)).getText(), /use: exact_match/);
  });

  it("answers hover and completion", async () => {
    const document = await vscode.workspace.openTextDocument(uri);
    const at = document.positionAt(document.getText().indexOf("rollout:") + 2);
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      "vscode.executeHoverProvider",
      uri,
      at,
    );
    assert.ok(hovers.length > 0, "no hover over rollout");
    const inside = document.positionAt(document.getText().indexOf("max_tokens"));
    const list = await vscode.commands.executeCommand<vscode.CompletionList>(
      "vscode.executeCompletionItemProvider",
      uri,
      inside,
    );
    assert.ok(
      list.items.some(({ label }) => (typeof label === "string" ? label : label.label) === "temperature"),
      "temperature is not offered",
    );
  });

  it("has ▶ Run and Validate above it, and not when the setting says so", async () => {
    const titles = async (): Promise<string[]> => {
      const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
        "vscode.executeCodeLensProvider",
        uri,
        10,
      );
      return lenses.map(({ command }) => command?.title ?? "");
    };
    await until(async () => (await titles()).join().includes("Run"), "the lenses");
    assert.deepEqual((await titles()).slice(0, 2), ["$(play) Run", "Validate"]);
    const settings = vscode.workspace.getConfiguration();
    await settings.update("gradus.codeLens.enabled", false, vscode.ConfigurationTarget.Global);
    assert.deepEqual(await titles(), []);
    await settings.update("gradus.codeLens.enabled", undefined, vscode.ConfigurationTarget.Global);
  });
});
