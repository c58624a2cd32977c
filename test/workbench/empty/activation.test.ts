import * as assert from "node:assert/strict";
import * as vscode from "vscode";

const id = "gradus.gradus";

describe("a window without a folder", () => {
  it("has the extension and activates it", async () => {
    const extension = vscode.extensions.getExtension(id);
    assert.ok(extension, `${id} is not installed; there are ${vscode.extensions.all.length} extensions`);
    await extension.activate();
    assert.equal(extension.isActive, true);
  });

  it("runs in the host that can start processes", () => {
    const extension = vscode.extensions.getExtension(id);
    assert.equal(extension?.extensionKind, vscode.ExtensionKind.Workspace);
  });

  it("registers every command that the manifest names, and none is without an answer", async () => {
    const manifest: unknown = vscode.extensions.getExtension(id)?.packageJSON;
    const { contributes } = manifest as { contributes: { commands: { command: string }[] } };
    const known = new Set(await vscode.commands.getCommands(true));
    assert.deepEqual(
      contributes.commands.map(({ command }) => command).filter((command) => !known.has(command)),
      [],
    );
    // Says what is missing in a message instead of failing.
    await vscode.commands.executeCommand("gradus.daemon.status");
    await vscode.commands.executeCommand("gradus.run.stop");
  });
});
