// `npm run bench [name] [arguments…]`: one benchmark by name, by default the optimiser round beside its peer.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const [name = "round", ...rest] = process.argv.slice(2);
const words = existsSync(`bench/${name}.mjs`)
  ? [`bench/${name}.mjs`, ...rest]
  : ["scripts/bench.mjs", name, ...rest];
process.exit(spawnSync(process.execPath, words, { stdio: "inherit" }).status ?? 1);
