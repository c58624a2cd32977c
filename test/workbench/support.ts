/** What the suites inside the extension host share. */
import * as assert from "node:assert/strict";
import { cpSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { daemonShutdown } from "../../shared/protocol/protocol.ts";
import type { Api } from "../../extension/extension.ts";
import { until } from "../support/until.ts";

export const id = "gradus.gradus";

export async function activated(): Promise<Api> {
  const extension = vscode.extensions.getExtension<Api>(id);
  assert.ok(extension, `${id} is not installed`);
  return extension.activate();
}

export { until };

export const ready = (api: Api): Promise<true> =>
  until(
    () => api.stores.all.length > 0 && api.stores.all.every((store) => store.machine.state.state === "ready"),
    "the daemon",
  ).catch((error: unknown) => {
    const states = api.stores.all.map((store) =>
      JSON.stringify(store.machine.state, (key, value: unknown) => (key === "session" ? undefined : value)),
    );
    throw new Error(`${String(error)}: ${states.join("; ")}`);
  });

/** A file of the opened folders, by its path below the folder. */
export async function config(name: string): Promise<vscode.Uri> {
  for (const folder of vscode.workspace.workspaceFolders ?? []) {
    const uri = vscode.Uri.joinPath(folder.uri, name);
    const entries = await vscode.workspace.fs.readDirectory(folder.uri);
    if (entries.some(([entry]) => entry === name)) return uri;
  }
  throw new Error(`${name} is not in the workspace`);
}

/** A finished run of verl in a folder of this name. What was written just now would be followed for minutes. */
export function finishedOfVerl(to: string): vscode.Uri {
  const { extensionPath } = vscode.extensions.getExtension(id)!;
  cpSync(join(extensionPath, "test", "fixtures", "imported", "verl"), to, { recursive: true });
  for (const path of readdirSync(to, { recursive: true, encoding: "utf8" }))
    utimesSync(join(to, path), 1e9, 1e9);
  return vscode.Uri.file(to);
}

/** Every suite ends its processes: runs end, then the daemon. */
export async function stopEverything(api: Api): Promise<void> {
  for (const store of api.stores.all) {
    const session = store.machine.session;
    if (session === undefined) continue;
    for (const run of store.runs.live) await vscode.commands.executeCommand("gradus.run.stopNow", run.id);
    await until(() => store.runs.live.length === 0, "the runs to end");
  }
  for (const store of api.stores.all) {
    const session = store.machine.session;
    // A worker that has written its end may take a moment to leave. A daemon that ends may close before its answer arrives.
    await until(
      async () =>
        session === undefined ||
        (await session.ask(daemonShutdown, { force: false }).then(
          ({ accepted }) => accepted,
          (error: unknown) => {
            if (/connection got disposed/.test(String(error))) return true;
            throw error;
          },
        )),
      "the daemon to end",
    );
    store.machine.stop();
  }
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
}
