// Pictures of every editor feature in a real workbench, to be looked at, in out/pictures:
// `node scripts/pictures.mjs [--themes=dark,light] [--media] [--docs] [scene…]`. Without words all scenes in all four themes.
// `--media` puts those of the walkthrough into media/, `--docs` those of the README into docs/images. It plays what is built:
// `node esbuild.mjs` first.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { tests } from "../esbuild.mjs";

const entry = join("test", "pictures", "main.ts");
await build(tests([entry]));
const { status } = spawnSync(
  process.execPath,
  ["--enable-source-maps", join("out", entry.replace(/\.ts$/, ".mjs")), ...process.argv.slice(2)],
  { stdio: "inherit" },
);
process.exit(status ?? 1);
