// Writes docs/methods, docs/rules and docs/presets.md from the declarations: `npm run docs`. A test compares them.
import { build } from "esbuild";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { tests } from "../esbuild.mjs";

const outdir = "out/docs";
await build({ ...tests(["server/cli/reference/index.ts"]), outdir, outbase: "server/cli/reference" });
const { generatedFolders, generatedPages } = await import(
  pathToFileURL(join(process.cwd(), outdir, "index.mjs")).href
);
const pages = generatedPages();
for (const folder of generatedFolders) {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) if (!pages.has(`${folder}/${name}`)) rmSync(join(folder, name));
}
for (const [path, text] of pages) writeFileSync(path, text);
console.log(`${pages.size} pages written below docs/`);
