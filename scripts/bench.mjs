// Builds and runs one benchmark of bench/: `node scripts/bench.mjs engine [arguments…]`.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { tests } from "../esbuild.mjs";

const [name, ...rest] = process.argv.slice(2);
if (name === undefined) {
  console.error("which benchmark? node scripts/bench.mjs NAME");
  process.exit(2);
}
await build({ ...tests([`bench/${name}.ts`]), outdir: "out/bench", outbase: "bench" });
const { status } = spawnSync(process.execPath, ["--enable-source-maps", `out/bench/${name}.mjs`, ...rest], {
  stdio: "inherit",
});
process.exit(status ?? 1);
