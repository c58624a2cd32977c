import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

interface EngineModule {
  readonly headerFiles: readonly string[];
}
interface PlacesModule {
  engineFolder(): string;
  dataFolder(env: Record<string, string>): string;
}
const load = async <T>(name: string): Promise<T> =>
  import(pathToFileURL(join(process.cwd(), "scripts", "setup", `${name}.mjs`)).href);
const includesOf = (file: string): string[] =>
  [...readFileSync(file, "utf8").matchAll(/^\s*#include "([^"]+)"/gm)].map(([, name]) => name ?? "");

test("the header list is exactly what the addon's sources include, directly and indirectly", async (context) => {
  const { headerFiles } = await load<EngineModule>("library");
  const { engineFolder } = await load<PlacesModule>("places");
  const include = join(engineFolder(), "deps", "include");
  if (!existsSync(include)) return context.skip("the native engine is not built here");
  const binding = join("node_modules", "@tensorflow", "tfjs-node-gpu", "binding");
  const found = new Set<string>();
  const visit = (name: string, from: string): void => {
    const beside = join(dirname(from), name);
    const own = [beside, join(binding, "..", name)].find(
      (file) => file.startsWith(binding) && existsSync(file),
    );
    if (own !== undefined) return includesOf(own).forEach((next) => visit(next, own));
    const shared = normalize(join(include, name));
    if (!existsSync(shared) || found.has(name)) return;
    found.add(name);
    includesOf(shared).forEach((next) => visit(next, shared));
  };
  for (const unit of ["tfjs_backend.cc", "tfjs_binding.cc"])
    includesOf(join(binding, unit)).forEach((name) => visit(name, join(binding, unit)));
  assert.deepEqual([...found].sort(), [...headerFiles].sort());
});

test("the data folder is GRADUS_DATA, else below XDG_DATA_HOME, else below the home folder", async () => {
  const { dataFolder } = await load<PlacesModule>("places");
  assert.equal(dataFolder({ GRADUS_DATA: "/a", XDG_DATA_HOME: "/b" }), "/a");
  assert.equal(dataFolder({ XDG_DATA_HOME: "/b" }), join("/b", "gradus"));
  assert.match(dataFolder({}), /\.local.share.gradus$/);
});
