import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import type { Api } from "../../../extension/extension.ts";
import { activated, config, ready, stopEverything, until } from "../support.ts";

describe("a workspace of two folders", () => {
  let api: Api;
  before(async () => {
    api = await activated();
    await ready(api);
  });
  after(() => stopEverything(api));

  it("has a store for each folder", () => {
    assert.deepEqual(api.stores.all.map((store) => store.folders.map(({ name }) => name).join()).sort(), [
      "alpha",
      "beta",
    ]);
    assert.equal(new Set(api.stores.all.map(({ path }) => path)).size, 2);
  });

  it("keeps a run in the store of the folder that holds its config", async () => {
    await vscode.commands.executeCommand("gradus.run.start", await config("beta.gradus.yaml"));
    const run = await until(() => api.stores.runs[0], "a run");
    const store = api.stores.ofRun(run.id);
    assert.equal(store?.folders[0]?.name, "beta");
    await until(() => api.stores.runs[0]?.status === "finished", "the run to finish");
    assert.equal(api.stores.all.find((one) => one !== store)?.runs.all.length, 0);
  });
});
