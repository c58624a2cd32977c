import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import type { Api } from "../../../extension/extension.ts";
import { notebook, tutorial } from "../../support/notebooks.ts";
import { activated, config, stopEverything, until } from "../support.ts";

describe("a notebook of a trainer", () => {
  let uri: vscode.Uri;
  let open: vscode.NotebookDocument;
  let api: Api;
  before(async () => {
    uri = vscode.Uri.joinPath(await config("grpo.yaml"), "..", "train.ipynb");
    const text = notebook(tutorial("    max_step=100,\n    learning_rate=5e-6,"));
    await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
    open = await vscode.workspace.openNotebookDocument(uri);
    await vscode.window.showNotebookDocument(open);
    api = await activated();
  });
  after(async () => {
    await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
    await vscode.workspace.fs.delete(uri);
  });

  const problems = (cell: number): string[] =>
    vscode.languages
      .getDiagnostics(open.cellAt(cell).document.uri)
      .map(({ range, message }) => `${range.start.line + 1} ${/`\w+`/.exec(message)?.[0] ?? message}`);
  const shown = (cell: number, expected: readonly string[]): Promise<unknown> =>
    until(
      () => JSON.stringify(problems(cell)) === JSON.stringify(expected),
      `${expected.join(", ")} in cell ${cell}`,
    );

  it("is opened at its cell from its row in the side bar", async () => {
    const row = await until(async () => {
      const cards = await api.runs.getChildren();
      const below = await Promise.all(cards.map((card) => api.runs.getChildren(card)));
      const items = below.flat().map((node) => api.runs.getTreeItem(node));
      return items.find(({ label, description }) => label === "train.ipynb" && description !== "");
    }, "the row of the notebook");
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
    await vscode.commands.executeCommand(row.command!.command, ...(row.command!.arguments ?? []));
    const at = (): number | undefined => vscode.window.activeNotebookEditor?.selections[0]?.start;
    await until(() => at() === 4, "the fifth cell");
    open = vscode.window.activeNotebookEditor!.notebook;
  });

  it("has its problems at its cells, also once one is added above", async () => {
    await shown(4, ["5 `max_step`"]);
    const edit = new vscode.WorkspaceEdit();
    const added = new vscode.NotebookCellData(vscode.NotebookCellKind.Code, "import json", "python");
    edit.set(uri, [vscode.NotebookEdit.insertCells(1, [added])]);
    await vscode.workspace.applyEdit(edit);
    await shown(5, ["5 `max_step`"]);
  });

  it("is fixed in its cell, and explained there", async () => {
    const { document } = open.cellAt(5);
    await vscode.window.showNotebookDocument(open, { selections: [new vscode.NotebookRange(5, 6)] });
    await vscode.commands.executeCommand("notebook.cell.edit");
    const asked = (): Thenable<vscode.CodeAction[]> =>
      vscode.commands.executeCommand(
        "vscode.executeCodeActionProvider",
        document.uri,
        vscode.languages.getDiagnostics(document.uri)[0]?.range,
        vscode.CodeActionKind.QuickFix.value,
      );
    // A cell that is not drawn yet has no text that the editor could ask about.
    const actions = await until<vscode.CodeAction[]>(
      () => asked().then(undefined, () => undefined),
      "the quick fixes of a cell that is drawn",
    );
    const fix = actions.find(({ edit }) => edit?.has(document.uri) === true)?.edit;
    assert.ok(fix);
    await vscode.workspace.applyEdit(fix);
    assert.match(document.getText(), /max_steps=100/);
    await shown(5, []);
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      "vscode.executeHoverProvider",
      document.uri,
      new vscode.Position(4, 6),
    );
    const texts = hovers.flatMap(({ contents }) =>
      contents.map((one) => (typeof one === "string" ? one : one.value)),
    );
    assert.match(texts.join("\n"), /max_steps/);
  });

  it("says at its functions how many reference answers they pay, as they are typed", async () => {
    const rows = [3, 7].map((n) =>
      JSON.stringify({ prompt: `What is ${n - 1} + 1? Write <answer>…</answer>.`, answer: String(n) }),
    );
    const data = vscode.Uri.joinPath(uri, "..", "rows.jsonl");
    await vscode.workspace.fs.writeFile(data, new TextEncoder().encode(rows.join("\n")));
    // No run has opened a store yet: the language server alone answers.
    assert.deepEqual(
      api.stores.all.filter(({ machine }) => machine.session !== undefined),
      [],
    );
    const { document } = open.cellAt(4);
    const all = new vscode.Range(0, 0, document.lineCount, 0);
    const shownAt = async (expected: readonly string[]): Promise<void> =>
      void (await until(async () => {
        const hints = await vscode.commands.executeCommand<vscode.InlayHint[]>(
          "vscode.executeInlayHintProvider",
          document.uri,
          all,
        );
        const texts = hints.map(({ label, position }) => `${position.line} ${String(label)}`);
        return texts.join() === expected.join();
      }, expected.join()));
    await shownAt(["3 gold 2 of 2", "6 gold 2 of 2"]);
    const edit = new vscode.WorkspaceEdit();
    const at = document.positionAt(document.getText().indexOf("== a"));
    edit.replace(document.uri, new vscode.Range(at, at.translate(0, 4)), '== "7"');
    await vscode.workspace.applyEdit(edit);
    await shownAt(["3 gold 1 of 2", "6 gold 2 of 2"]);
    await vscode.workspace.fs.delete(data);
  });

  it("has the log of its training beside it, which opens as a run", async () => {
    const log = vscode.Uri.joinPath(uri, "..", "slurm-1.out");
    const lines = Array.from(
      { length: 30 },
      (_, i) => `{'loss': 0.1, 'reward': ${i / 30}, 'epoch': 0.${i + 10}}`,
    );
    await vscode.workspace.fs.writeFile(log, new TextEncoder().encode(`${lines.join("\n")}\n`));
    await api.cards.look();
    const [card] = await api.runs.getChildren();
    const items = (await api.runs.getChildren(card)).map((node) => api.runs.getTreeItem(node));
    const { command } = items.find(({ label }) => label === "slurm-1.out")!;
    await vscode.commands.executeCommand(command!.command, ...(command!.arguments ?? []));
    await until(
      () => api.stores.runs.some(({ status, name }) => status === "finished" && name === "slurm-1.out"),
      "the log's run",
    );
    await vscode.workspace.fs.delete(log);
    await stopEverything(api);
  });
});
