import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { slashed } from "../../../shared/lib/slashes.ts";

/** What `vsce ls` would ship. */
const shipped: readonly string[] = execFileSync(
  process.execPath,
  [join("node_modules", "@vscode", "vsce", "vsce"), "ls", "--no-dependencies"],
  { encoding: "utf8" },
)
  .trim()
  .split("\n");

const inFolders = (files: readonly string[], ...folders: readonly string[]): string[] =>
  files.filter((file) => folders.some((folder) => file.startsWith(`${folder}/`)));

test("the extension ships what it needs and nothing else", () => {
  const own = shipped.filter(
    (file) => inFolders([file], "dist", "presets", "examples", "media").length === 0,
  );
  const snapshot = readFileSync(join("test", "fixtures", "package", "files.txt"), "utf8");
  assert.equal(
    `${own.sort().join("\n")}\n`,
    snapshot,
    "a new file is shipped, or one is missing: change `files` in package.json or test/fixtures/package/files.txt on purpose",
  );
});

test("bundles, presets and examples are shipped without maps, stores or tests", () => {
  for (const needed of [
    "dist/extension.js",
    "dist/cli.mjs",
    "dist/THIRD_PARTY_NOTICES.txt",
    "dist/gradus.schema.json",
    "dist/docs/rules/band.md",
    "dist/docs/methods/sampler.md",
    "papers/papers.yaml",
    "media/icon.png",
    "media/gradus.svg",
  ])
    assert.ok(shipped.includes(needed), `${needed} is missing`);
  const allowed = {
    dist: /\.(js|mjs|css|py|sh|ttf|woff2)$|THIRD_PARTY_NOTICES\.txt$|gradus\.schema\.json$|^dist\/docs\/((rules|methods)\/)?[\w-]+\.md$/,
    presets: /\.(yaml|md)$/,
    examples:
      /^examples\/([^/.]+\.md|[^/.]+\/[^/]+\.(yaml|md|ts|py|jsonl)|[^/.]+\/(rewards|data)\/[^/]+\.(ts|py|jsonl))$/,
    media: /\.(png|svg|md)$/,
  };
  for (const [folder, pattern] of Object.entries(allowed))
    assert.deepEqual(
      inFolders(shipped, folder).filter((file) => !pattern.test(file)),
      [],
    );
});

test("everything that the build makes is shipped", async () => {
  interface Entry {
    readonly entryPoints: Record<string, string>;
    readonly outdir: string;
    readonly outExtension?: Record<string, string>;
  }
  const { entries }: { entries: readonly Entry[] } = await import(
    pathToFileURL(join(process.cwd(), "esbuild.mjs")).href
  );
  const made = entries.flatMap(({ entryPoints, outdir, outExtension }) =>
    Object.entries(entryPoints).map(([name, source]) => {
      const extension = extname(source) === ".ts" ? ".js" : extname(source);
      return `${outdir}/${name}${outExtension?.[extension] ?? extension}`;
    }),
  );
  assert.deepEqual(
    made.filter((file) => !shipped.includes(file)),
    [],
    "add it to `files` in package.json",
  );
});

test("every script that set-up imports is shipped", () => {
  const files = new Set(shipped);
  const visit = (path: string): void => {
    const file = slashed(path);
    assert.ok(files.has(file), `${file} is not shipped`);
    for (const [, name] of readFileSync(file, "utf8").matchAll(/from "(\.[^"]+)"/g))
      visit(join(file, "..", name ?? ""));
  };
  visit("scripts/setup.mjs");
});
