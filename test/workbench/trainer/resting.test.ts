import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import type { Api } from "../../../extension/extension.ts";
import { activated, config, ready, stopEverything, until } from "../support.ts";

describe("a workspace that has another trainer's file and no config", () => {
  let api: Api;
  let folder: vscode.Uri;
  before(async () => {
    const uri = await config("grpo.yaml");
    folder = vscode.Uri.joinPath(uri, "..");
    await vscode.window.showTextDocument(uri);
    api = await activated();
  });
  after(() => stopEverything(api));

  const names = async (): Promise<string[]> =>
    (await vscode.workspace.fs.readDirectory(folder)).map(([name]) => name).sort();

  it("checks the file without a daemon, and makes nothing in the folder", async () => {
    const uri = vscode.Uri.joinPath(folder, "grpo.yaml");
    await until(
      () =>
        vscode.languages.getDiagnostics(uri).some(({ message }) => message.includes("max_completion_length")),
      "the misspelt key's problem",
    );
    assert.equal(api.stores.state, "none");
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
    assert.ok((await names()).includes(".gradus"));
  });
});
