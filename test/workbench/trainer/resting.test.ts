import * as assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import type { Api } from "../../../extension/extension.ts";
import { language, views } from "../../../shared/editor/contributions.ts";
import { holds, offersOf, type Context, type Contributes } from "../../support/offers.ts";
import { Person } from "../person.ts";
import { activated, config, finishedOfVerl, id, ready, stopEverything, until } from "../support.ts";

describe("a workspace that has another trainer's file and no config", () => {
  let api: Api;
  let folder: vscode.Uri;
  const person = new Person();
  before(async () => {
    const uri = await config("grpo.yaml");
    folder = vscode.Uri.joinPath(uri, "..");
    // No file is open: what the folder holds wakes the extension.
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
    api = await activated();
  });
  after(() => stopEverything(api));

  const names = async (): Promise<string[]> =>
    (await vscode.workspace.fs.readDirectory(folder)).map(([name]) => name).sort();

  type Node = Parameters<Api["runs"]["getTreeItem"]>[0];
  const rows = async (): Promise<readonly Node[]> => {
    const [card] = await api.runs.getChildren();
    return card === undefined ? [] : [card, ...(await api.runs.getChildren(card))];
  };

  it("shows one card of what the folder holds, before a file is open", async () => {
    await until(() => api.cards.all.length > 0, "the card");
    const items = (await rows()).map((node) => api.runs.getTreeItem(node));
    assert.deepEqual(
      items.map(({ label, description, contextValue }) => [label, description, contextValue]),
      [
        ["TRL", "grpo.yaml · 2 findings", "trainer.card"],
        ["grpo.yaml", "2 findings", "trainer.launch"],
      ],
    );
    assert.equal(api.stores.state, "none");
    assert.deepEqual(await names(), ["grpo.yaml"]);
  });

  it("opens the file of a row", async () => {
    const [, launch] = await rows();
    assert.ok(launch);
    const { command } = api.runs.getTreeItem(launch);
    person.sitDown();
    const wrong = [...(await person.press(command!.command, ...(command!.arguments ?? [])))];
    person.getUp();
    assert.deepEqual(wrong, []);
    assert.ok(vscode.window.activeTextEditor?.document.fileName.endsWith("grpo.yaml"));
  });

  it("checks the file without a daemon, and makes nothing in the folder", async () => {
    const uri = vscode.Uri.joinPath(folder, "grpo.yaml");
    await vscode.window.showTextDocument(uri);
    await until(
      () =>
        vscode.languages.getDiagnostics(uri).some(({ message }) => message.includes("max_completion_length")),
      "the misspelt key's problem",
    );
    assert.equal(api.stores.state, "none");
    assert.deepEqual(await names(), ["grpo.yaml"]);
  });

  const convert = "gradus.trainer.convert";
  /** The window as it is while there is no config. */
  const context: Context = {
    ...{ isWorkspaceTrusted: true, workspaceFolderCount: 1, view: views.runs },
    ...{ "gradus.daemonState": "none", "gradus.trainer": "TRL" },
  };

  it("offers in its side bar what can be done there, also when the file is closed", async () => {
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
    const extension = vscode.extensions.getExtension(id)!;
    const { contributes } = extension.packageJSON as { contributes: Contributes };
    const words = readFileSync(join(extension.extensionPath, "package.nls.json"), "utf8");
    const offered = offersOf(contributes, JSON.parse(words) as Record<string, string>)
      .filter(({ place, when }) => ["view/title", "welcome"].includes(place) && holds(when, context))
      // These start a daemon, which is what the next test looks for.
      .filter(({ command }) => !/refresh|restart/.test(command));
    assert.ok(offered.some(({ command }) => command === convert));
    person.sitDown();
    const wrong: string[] = [];
    // It opens a config, so it starts a daemon too: below.
    for (const { command } of offered.filter((one) => one.command !== convert))
      for (const error of await person.press(command)) wrong.push(`${command}: ${error}`);
    person.getUp();
    assert.deepEqual(wrong, []);
    assert.deepEqual(await names(), ["grpo.yaml"]);
  });

  it("connects once a config is there", async () => {
    const text = "extends: grpo\nmodel: { base: tiny }\ntasks: [{ env: countdown }]\n";
    await vscode.workspace.fs.writeFile(
      vscode.Uri.joinPath(folder, "first.gradus.yaml"),
      new TextEncoder().encode(text),
    );
    await ready(api);
    assert.equal(api.stores.state, "ready");
    await until(() => api.cards.all.length === 0, "the card to make room for what is ours");
    assert.ok((await names()).includes(".gradus"));
  });

  it("converts the file, also when it is closed", async () => {
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
    person.sitDown();
    const wrong = await person.press(convert);
    person.getUp();
    assert.deepEqual(wrong, []);
    // Until it is shown, the output that an earlier test has opened counts as the active editor.
    const shown = (): boolean => vscode.window.activeTextEditor?.document.languageId === language.id;
    await until(shown, "the config of the file");
    await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
  });

  it("opens a run of another trainer, and shows which of its rollouts change most", async () => {
    const theirs = finishedOfVerl(vscode.Uri.joinPath(folder, "theirs").fsPath);
    person.sitDown();
    const wrong = [...(await person.press("gradus.run.import", theirs))];
    await until(() => api.stores.runs.some(({ status }) => status === "finished"), "the imported run");
    for (const command of ["gradus.run.open", "gradus.rescore.open"]) {
      await vscode.window.showTextDocument(vscode.Uri.joinPath(folder, "grpo.yaml"));
      for (const error of await person.press(command)) wrong.push(`${command}: ${error}`);
    }
    person.getUp();
    assert.deepEqual(wrong, []);
  });
});
