import assert from "node:assert/strict";
import { build, type BuildOptions } from "esbuild";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

/** Files of a bundle that its entry reaches by import, static or dynamic. */
async function reached(entry: string): Promise<Set<string>> {
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
  return new Set(Object.keys(metafile.inputs));
}

test("the command line, the daemon and the workers cannot reach SQLite: only the store's thread is built with it", async () => {
  const main = await reached("server/cli.ts");
  for (const file of ["driver", "store", "ingest", "queries", "thread"])
    assert.ok(!main.has(`server/store/${file}.ts`), `server/store/${file}.ts is in the main bundle`);
  assert.ok(main.has("server/store/remote.ts"), "the daemon is in the bundle");
  assert.ok((await reached("server/store/thread.ts")).has("server/store/driver.ts"));
});

test("there is one copy of vscode-jsonrpc", async () => {
  const copies = [...(await reached("server/cli.ts"))].filter((file) =>
    /vscode-jsonrpc\/lib\/common\/connection\.js$/.test(file),
  );
  assert.equal(copies.length, 1, copies.join(", "));
});
