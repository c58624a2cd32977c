// Benchmarks of bench/. `npm run bench` runs all but the longest and prints one table; `npm run bench -- NAME [options…]`
// runs one; `npm run bench -- --list` says what there is.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { basename, extname, join } from "node:path";
import { tests } from "../esbuild.mjs";

/** Left out of a run of all: asked for by name. */
const long = {
  kills: "two hundred kills take an hour or more: npm run bench -- kills",
  same: "it compares two working trees that you name: npm run bench -- same A B",
  figure: "it draws what is committed: npm run bench -- figure",
  curriculum: "several hundred runs take hours: npm run bench -- curriculum",
  judge: "it judges checkouts that you name: npm run bench -- judge CHECKOUT…",
  notebooks: "it checks folders that you name: npm run bench -- notebooks FOLDER…",
  fuzz: "100,000 messages take minutes: npm run bench -- fuzz",
  learning: "ten runs of the example take most of an hour: npm run bench -- learning",
};

/** A benchmark is a file of bench/ that reports measures; the others are parts of some. Its first line says what it is. */
const benches = readdirSync("bench")
  .filter((file) => /\.m?[jt]s$/.test(file) && file !== "report.ts")
  .map((file) => ({
    file,
    name: basename(file, extname(file)),
    text: readFileSync(join("bench", file), "utf8"),
  }))
  .filter(({ text }) => text.includes("measured("))
  .map(({ file, name, text }) => ({
    file,
    name,
    summary: /^\/[/*]+ ?(.*?)(?: ?\*\/)?$/m.exec(text)?.[1] ?? "",
  }));

const [name, ...rest] = process.argv.slice(2);
if (name === "--list") {
  for (const { name, summary } of benches) console.log(`${name.padEnd(12)} ${summary}`);
  process.exit(0);
}
if (name !== undefined && !benches.some((bench) => bench.name === name)) {
  console.error(`there is no benchmark ${name}; there are ${benches.map((bench) => bench.name).join(", ")}`);
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), "gradus-bench-"));
const results = join(folder, "results.jsonl");
let failed = [];
try {
  const wanted = benches.filter((bench) =>
    name === undefined ? !(bench.name in long) : bench.name === name,
  );
  await build({
    ...tests(wanted.map(({ file }) => `bench/${file}`)),
    outdir: "out/bench",
    outbase: "bench",
  });
  failed = wanted.map((bench) => bench.name).filter((bench) => run(bench, rest) !== 0);
  if (name === undefined)
    for (const [what, reason] of Object.entries(long))
      appendFileSync(results, `${JSON.stringify({ kind: "skipped", what, reason })}\n`);
  if (existsSync(results)) printTable(readFileSync(results, "utf8"));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (failed.length > 0) console.error(`failed: ${failed.join(", ")}`);
process.exit(failed.length > 0 ? 1 : 0);

function run(bench, options) {
  console.log(`── ${bench}`);
  const { status } = spawnSync(
    process.execPath,
    ["--enable-source-maps", `out/bench/${bench}.mjs`, ...options],
    { stdio: "inherit", env: { ...process.env, GRADUS_BENCH_RESULTS: results } },
  );
  return status ?? 1;
}

/** As Markdown, to be pasted into docs/benchmarks.md. */
function printTable(text) {
  const rows = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  console.log(
    `\n${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown processor"}, Node ${process.version}, load ${loadavg()[0].toFixed(1)}`,
  );
  console.log("\n| | measured | goal | setting |\n|---|---|---|---|");
  for (const { kind, what, value, unit, goal, least, setting = "", reason } of rows) {
    if (kind === "skipped") {
      console.log(`| ${what} | skipped: ${reason} | | |`);
      continue;
    }
    const met = goal === undefined ? "" : (least ? value >= goal : value < goal) ? " ✓" : " ✗ missed";
    const wanted = goal === undefined ? "" : `${least ? "at least" : "under"} ${goal} ${unit}${met}`;
    console.log(`| ${what} | ${Number(value.toPrecision(4))} ${unit} | ${wanted} | ${setting} |`);
  }
}
