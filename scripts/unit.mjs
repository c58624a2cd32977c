// Builds and runs node tests: `node scripts/unit.mjs [path fragments…]`, e.g. `node scripts/unit.mjs unit/policy`.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tests } from "../esbuild.mjs";

const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
const flags = process.argv.slice(2).filter((argument) => argument.startsWith("-"));
const files = readdirSync("test", { recursive: true })
  .map((name) => join("test", String(name)))
  .filter((name) => name.endsWith(".test.ts") && !name.startsWith(join("test", "workbench")) && !name.includes("fixtures"))
  .filter((name) => wanted.length === 0 || wanted.some((fragment) => name.includes(fragment)));
if (files.length === 0) {
  console.error(`no test matches ${wanted.join(" ")}`);
  process.exit(1);
}
rmSync("out/test", { recursive: true, force: true });
await build(tests(files));
const built = files.map((name) => join("out", name.replace(/\.ts$/, ".mjs")));
const { status } = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...flags, ...built], { stdio: "inherit" });
process.exit(status ?? 1);
