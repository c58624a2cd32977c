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
});
