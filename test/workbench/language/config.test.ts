import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import { activated, config, ready, stopEverything, until } from "../support.ts";

describe("a config in the editor", () => {
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

  it("has a squiggle on an unknown name, with a fix that removes it", async () => {
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

  it("holds research back until a letter is typed or the list's last item asks for it", async () => {
    const document = await vscode.workspace.openTextDocument(uri);
    const editor = await vscode.window.showTextDocument(document);
    const before = document.getText();
    const end = (): vscode.Position => document.positionAt(document.getText().length);
    const offered = async (): Promise<string[]> => {
      const { items } = await vscode.commands.executeCommand<vscode.CompletionList>(
        "vscode.executeCompletionItemProvider",
        uri,
        end(),
      );
      return items.map(({ label }) => (typeof label === "string" ? label : label.label));
    };
    try {
      await editor.edit((edit) => edit.insert(end(), "mask: [{ use: "));
      const held = await offered();
      assert.ok(held.includes("overlong") && !held.includes("turns"), held.join());
      assert.match(held.find((label) => label.startsWith("research")) ?? "", /^research \(\d+\)…$/);
      editor.selection = new vscode.Selection(end(), end());
      await vscode.commands.executeCommand("editor.action.triggerSuggest");
      await until(async () => {
        await vscode.commands.executeCommand("selectLastSuggestion");
        await vscode.commands.executeCommand("acceptSelectedSuggestion");
        return document.getText() !== `${before}mask: [{ use: ` || undefined;
      }, "something of research is written");
      await editor.edit((edit) =>
        edit.replace(new vscode.Range(document.positionAt(before.length), end()), "mask: [{ use: tu"),
      );
      assert.ok((await offered()).includes("turns"));
    } finally {
      await vscode.commands.executeCommand("workbench.action.files.revert");
    }
  });

  it("writes what is chosen from the list at its proper depth, and asks for more", async () => {
    const document = await vscode.workspace.openTextDocument(uri);
    const editor = await vscode.window.showTextDocument(document);
    const before = document.getText();
    const write = async (text: string): Promise<void> => {
      const at = document.positionAt(document.getText().length);
      await editor.edit((edit) => edit.insert(at, text), { undoStopBefore: true, undoStopAfter: true });
      const end = document.positionAt(document.getText().length);
      editor.selection = new vscode.Selection(end, end);
      await vscode.commands.executeCommand("editor.action.triggerSuggest");
    };
    const written = (): string => document.getText().slice(before.length);
    const choose = (wanted: string): Promise<unknown> =>
      until(
        async () => {
          await vscode.commands.executeCommand("acceptSelectedSuggestion");
          return written() === wanted || undefined;
        },
        `${JSON.stringify(wanted)}, not ${JSON.stringify(written())}`,
      );
    try {
      await write("auxil");
      await choose("auxiliary:\n  - ");
      await write("us");
      await choose("auxiliary:\n  - use: ");
      await write("next_t");
      await choose('auxiliary:\n  - use: next_token\n    path: "text"');
      await vscode.commands.executeCommand("leaveSnippet");
      await write("\n     wei");
      await choose('auxiliary:\n  - use: next_token\n    path: "text"\n    weight: ');
    } finally {
      await vscode.commands.executeCommand("workbench.action.files.revert");
    }
    assert.equal(document.getText(), before);
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

  const hints = async (): Promise<string[]> => {
    const document = await vscode.workspace.openTextDocument(uri);
    const found = await vscode.commands.executeCommand<vscode.InlayHint[]>(
      "vscode.executeInlayHintProvider",
      uri,
      new vscode.Range(0, 0, document.lineCount, 0),
    );
    return found.map(({ label }) =>
      typeof label === "string" ? label : label.map(({ value }) => value).join(""),
    );
  };

  it("has hints at the ends of its lines, and not when the setting says so", async () => {
    const shown = await until(async () => {
      const all = await hints();
      return all.some((hint) => hint.includes("rollouts per step")) ? all : undefined;
    }, "the hints");
    assert.ok(
      shown.some((hint) => hint.includes("tokens per step")),
      shown.join(", "),
    );
    const settings = vscode.workspace.getConfiguration();
    await settings.update("gradus.inlayHints.enabled", false, vscode.ConfigurationTarget.Global);
    assert.deepEqual(await hints(), []);
    await settings.update("gradus.inlayHints.enabled", undefined, vscode.ConfigurationTarget.Global);
    await until(async () => (await hints()).length > 0, "the hints to come back");
  });

  it("leads from a name to where it is, and renames it everywhere", async () => {
    const document = await vscode.workspace.openTextDocument(uri);
    const text = document.getText();
    const at = document.positionAt(text.indexOf("exact_match"));
    const definitions = await vscode.commands.executeCommand<(vscode.Location | vscode.LocationLink)[]>(
      "vscode.executeDefinitionProvider",
      uri,
      at,
    );
    assert.ok(Array.isArray(definitions));
    const term = document.positionAt(text.indexOf("correct") + 1);
    const references = await vscode.commands.executeCommand<vscode.Location[]>(
      "vscode.executeReferenceProvider",
      uri,
      term,
    );
    assert.ok(references.length > 0, "no references of the term");
    const edit = await vscode.commands.executeCommand<vscode.WorkspaceEdit>(
      "vscode.executeDocumentRenameProvider",
      uri,
      term,
      "right",
    );
    assert.equal(edit.get(uri).length, references.length);
    await assert.rejects(
      Promise.resolve(
        vscode.commands.executeCommand("vscode.executeDocumentRenameProvider", uri, term, "not a name"),
      ),
      /use letters/,
    );
  });

  it("is laid out already, and coloured by what its words mean", async () => {
    const edits = await vscode.commands.executeCommand<vscode.TextEdit[] | undefined>(
      "vscode.executeFormatDocumentProvider",
      uri,
      { tabSize: 2, insertSpaces: true },
    );
    assert.deepEqual(edits ?? [], []);
    const tokens = await vscode.commands.executeCommand<vscode.SemanticTokens>(
      "vscode.provideDocumentSemanticTokens",
      uri,
    );
    assert.ok(tokens.data.length > 0, "no semantic tokens");
  });
});
