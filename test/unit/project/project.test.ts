import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { columns } from "../../../shared/rollouts/columns.ts";

/** Every installed copy of a package, wherever it is nested. */
function installed(name: string): Map<string, string> {
  const lock: unknown = JSON.parse(readFileSync("package-lock.json", "utf8"));
  assert.ok(typeof lock === "object" && lock !== null && "packages" in lock);
  const { packages } = lock;
  assert.ok(typeof packages === "object" && packages !== null);
  const copies = Object.entries(packages).filter(([path]) => path.endsWith(`node_modules/${name}`));
  return new Map(copies.map(([path, { version }]: [string, { version: string }]) => [path, version]));
}

test("there is one copy of vscode-jsonrpc: descriptors of another would be refused at run time", () => {
  assert.equal(installed("vscode-jsonrpc").size, 1, JSON.stringify([...installed("vscode-jsonrpc")]));
  assert.deepEqual([...installed("vscode-jsonrpc").keys()], ["node_modules/vscode-jsonrpc"]);
});

test("there is one copy of zod: schemas of another are not recognised", () => {
  const zods = [...installed("zod").keys()];
  assert.deepEqual(zods, ["node_modules/zod"]);
});

test("a folder in which a newcomer may wonder what to touch says so", () => {
  const tops = [
    "server",
    "shared",
    "extension",
    "webviews",
    "presets",
    "examples",
    "bench",
    "test",
    "docs",
    "scripts",
  ];
  const slots = readdirSync("server", { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join("server", name));
  for (const folder of [...tops, ...slots, "shared/log", "shared/daemon", "test/fixtures"])
    assert.ok(existsSync(join(folder, "README.md")), `${folder} has no README.md`);
});

test("no folder of server/ holds more than 25 files, and nothing is loose in it but the command", () => {
  const folders = readdirSync("server", { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const folder of folders) {
    const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
    assert.ok(files.length <= 25, `${folder} holds ${files.length} files`);
  }
  const loose = readdirSync("server", { withFileTypes: true }).filter((entry) => entry.isFile());
  assert.deepEqual(loose.map(({ name }) => name).sort(), ["README.md", "cli.ts"]);
});

test("no module that tests share has a hook of the runner's: it would run when the first file that loads it ends", () => {
  const shared = readdirSync("test", { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name));
  const hooks = shared.filter((file) => /^(after|before)(Each)?\(/m.test(readFileSync(file, "utf8")));
  assert.deepEqual(hooks, []);
});

test("no page links to a page that is not there", () => {
  const pages = [
    "README.md",
    ...readdirSync("docs", { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => join("docs", name)),
  ];
  for (const page of pages)
    for (const [, target = ""] of readFileSync(page, "utf8").matchAll(
      /(?<!!)\[[^\]]*\]\((?!https?:|#)([^)#\s]+)/g,
    ))
      assert.ok(existsSync(join(page, "..", target)), `${page} links to ${target}`);
});

test("every field of a recorded rollout has its row in docs/rollouts.md, and no row is of anything else", () => {
  const [, fields = ""] =
    /^export interface RolloutRow [^{]*\{\n(.*?)^\}/ms.exec(
      readFileSync("shared/rollouts/rollouts.ts", "utf8"),
    ) ?? [];
  const own = [...fields.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name]) => name!);
  const declared = [...own, ...Object.keys(columns)];
  assert.ok(declared.length > 30);
  const table = readFileSync("docs/rollouts.md", "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  const told = table.flatMap((line) =>
    [...line.split(" | ")[0]!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
  );
  assert.deepEqual([...told].sort(), [...declared].sort());
});

test("a page of a room names files that are there", () => {
  const names = readdirSync("server", { recursive: true, encoding: "utf8" });
  for (const page of names.filter((name) => name.endsWith("README.md"))) {
    const folder = dirname(join("server", page));
    const below = readdirSync(folder, { recursive: true, encoding: "utf8" });
    for (const [, path = ""] of readFileSync(join("server", page), "utf8").matchAll(
      /`((?:[\w.]+\/)*\w+\.ts)`/g,
    )) {
      const there =
        [path, join("server", path), join(folder, path)].some(existsSync) ||
        below.some((name) => name.endsWith(`/${path}`));
      assert.ok(there, `server/${page} names ${path}`);
    }
  }
});

test("the commands that install packages load none before they have", () => {
  const loaded = new Set<string>();
  const load = (file: string): void => {
    if (loaded.has(file)) return;
    loaded.add(file);
    for (const [, name = ""] of readFileSync(file, "utf8").matchAll(/^(?:import|\}) .*"([^"]+)";$/gm)) {
      assert.match(name, /^(node:|\.)/, `${file} imports ${name}, which a fresh clone has not installed yet`);
      if (name.startsWith(".")) load(join(dirname(file), name));
    }
  };
  load(join("scripts", "test.mjs"));
  load(join("scripts", "setup.mjs"));
  assert.ok(loaded.has(join("scripts", "setup", "places.mjs")), [...loaded].join(", "));
});
