import assert from "node:assert/strict";
import { build, type BuildOptions, type Metafile } from "esbuild";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

type Inputs = Metafile["inputs"];

/** Files of a bundle that its entry reaches by import, static or dynamic. */
async function reached(entry: string): Promise<Inputs> {
  const { entries }: { entries: BuildOptions[] } = await import(
    pathToFileURL(join(process.cwd(), "esbuild.mjs")).href
  );
  const { metafile } = await build({
    ...entries[0],
    entryPoints: [entry],
    write: false,
    metafile: true,
    outdir: "out/none",
  });
  return metafile.inputs;
}

/** What is loaded with a program, whatever it does: `only` names what one branch of it loads. */
function reachedFrom(inputs: Inputs, entry: string, only: string): Set<string> {
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file) || file === only) return;
    seen.add(file);
    for (const { path } of inputs[file]?.imports ?? []) visit(path);
  };
  visit(entry);
  return seen;
}

test("the command line, the daemon and the workers cannot reach SQLite: only the store's thread is built with it", async () => {
  const inputs = await reached("server/cli.ts");
  // A store that no one may write to is read by a command of its own process.
  const readOnly = "server/cli/runs/readOnly.ts";
  const main = reachedFrom(inputs, "server/cli.ts", readOnly);
  for (const { imports } of Object.values(inputs))
    for (const { path, kind } of imports) assert.ok(path !== readOnly || kind === "dynamic-import");
  for (const file of ["driver", "store", "ingest", "queries", "thread"])
    assert.ok(!main.has(`server/store/${file}.ts`), `server/store/${file}.ts is in the main bundle`);
  assert.ok(main.has("server/store/remote.ts"), "the daemon is in the bundle");
  assert.ok("server/store/drivers/driver.ts" in (await reached("server/store/thread.ts")));
});

test("there is one copy of vscode-jsonrpc", async () => {
  const copies = Object.keys(await reached("server/cli.ts")).filter((file) =>
    /vscode-jsonrpc\/lib\/common\/connection\.js$/.test(file),
  );
  assert.equal(copies.length, 1, copies.join(", "));
});
