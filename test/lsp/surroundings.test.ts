/** Which release a file is checked by follows what lies around it, and the Python that the editor names. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import {
  DidChangeConfigurationNotification,
  DidChangeWatchedFilesNotification,
  FileChangeType,
  InitializedNotification,
  RegistrationRequest,
  type RegistrationParams,
} from "vscode-languageserver-protocol/node";
import { startServer, type LanguageServer } from "../support/lspServer.ts";

const script = "#!/usr/bin/env bash\npython3 -m verl.trainer.main_ppo data.train_batch_size=8\n";
const position = { line: 1, character: 40 };

/** A folder of its own: nothing above it names a release. */
const workspace = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-surroundings-"));
  mkdirSync(join(folder, ".git"));
  return folder;
};

/** What an installed package leaves of itself. */
function environment(folder: string, version: string): string {
  const packages = join(folder, "lib", "python3.12", "site-packages");
  mkdirSync(join(packages, `verl-${version}.dist-info`), { recursive: true });
  return join(folder, "bin", "python");
}

const withServer =
  (initialize: Parameters<typeof startServer>[0], use: (server: LanguageServer) => Promise<void>) =>
  async (): Promise<void> => {
    const server = await startServer(initialize);
    try {
      await use(server);
    } finally {
      await server.stop();
    }
  };

describe("the release that a file is checked by", () => {
  it(
    "follows a requirements file that changes on disk",
    withServer({}, async (server) => {
      const folder = workspace();
      const requirements = join(folder, "requirements.txt");
      writeFileSync(requirements, "verl==0.6.0\n");
      await server.open(folder, "run.sh", script, "shellscript");
      assert.match(await server.hover(position), /verl 0\.6\.0/);
      writeFileSync(requirements, "verl==0.7.1  # newer\n");
      const seen = server.published.length;
      await server.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
        changes: [{ uri: pathToFileURL(requirements).href, type: FileChangeType.Changed }],
      });
      await server.next(seen);
      assert.match(await server.hover(position), /verl 0\.7\.1/);
    }),
  );

  it("follows the Python that the editor names, before an environment next to the file", async () => {
    const folder = workspace();
    environment(join(folder, ".venv"), "0.6.1");
    const pythonPath = environment(mkdtempSync(join(tmpdir(), "gradus-python-")), "0.8.0");
    await withServer({ initializationOptions: { pythonPath } }, async (server) => {
      await server.open(folder, "run.sh", script, "shellscript");
      assert.match(await server.hover(position), /verl 0\.8\.0/);
      const seen = server.published.length;
      // Other settings say nothing of it.
      await server.connection.sendNotification(DidChangeConfigurationNotification.type, { settings: {} });
      await server.next(seen);
      assert.match(await server.hover(position), /verl 0\.8\.0/);
      const later = server.published.length;
      await server.connection.sendNotification(DidChangeConfigurationNotification.type, {
        settings: { gradus: { pythonPath: "" } },
      });
      await server.next(later);
      assert.match(await server.hover(position), /verl 0\.6\.1/);
    })();
  });

  it(
    "is asked of an editor that can watch files",
    withServer(
      { capabilities: { workspace: { didChangeWatchedFiles: { dynamicRegistration: true } } } },
      async (server) => {
        const registered = new Promise<RegistrationParams>((resolve) => {
          server.connection.onRequest(RegistrationRequest.type, (params) => resolve(params));
        });
        // Asked once the editor has said that it is ready: said again, for the first time no one listened yet.
        await server.connection.sendNotification(InitializedNotification.type, {});
        const { registrations } = await registered;
        assert.ok(registrations.some(({ method }) => method === DidChangeWatchedFilesNotification.method));
        assert.match(JSON.stringify(registrations), /requirements.*pyproject\.toml.*dist-info/);
      },
    ),
  );
});
