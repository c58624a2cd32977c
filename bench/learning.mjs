// Does the example learn? Runs it for seeds 1 to 5, each with its controls, and prints a table. One control scales the
// advantages to zero: every gradient is 0, the weights stay. The other rewards by a coin: as many updates of the usual size, in
// directions that the answers do not decide.
//   npm run bench -- learning [--seeds 1,2,3] [--no-control] [--config FILE] [--set path=value]…
// Needs a quiet machine for its seconds; the rest does not depend on it. Each run goes through `gradus run --json`.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { measured, median } from "./report.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1,2,3,4,5" },
    "no-control": { type: "boolean", default: false },
    config: { type: "string", default: "examples/countdown/countdown.gradus.yaml" },
    set: { type: "string", multiple: true, default: [] },
  },
});
const store = mkdtempSync(join(tmpdir(), "gradus-learning-"));
mkdirSync(join(store, ".gradus"));
const gradus = (words) =>
  spawn(process.execPath, [join("bin", "gradus"), ...words], { stdio: ["ignore", "pipe", "inherit"] });

/** What each kind of run sets. */
const kinds = {
  example: [],
  "zeroed advantages": ["advantage.scale=zero"],
  coin: [
    `reward.terms={ correct: { weight: 0 }, brevity: { weight: 0 }, coin: { use: ${JSON.stringify(resolve("bench/coin.ts"))} } }`,
    "reward.success={ terms: [correct] }",
  ],
};

async function run(seed, kind) {
  const settings = kinds[kind];
  const child = gradus([
    "run",
    values.config,
    "--json",
    "--store",
    store,
    "--seed",
    String(seed),
    ...[...values.set, ...settings].flatMap((one) => ["--set", one]),
  ]);
  let summary;
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text);
    if (line.type === "step" && line.step % 50 === 0)
      process.stderr.write(`\r  seed ${seed} ${kind} step ${line.step}   `);
    if (line.type === "summary") summary = line;
  }
  process.stderr.write("\r");
  if (summary?.status !== "finished")
    throw new Error(`seed ${seed} ${kind}: ${summary?.status} ${summary?.message}`);
  const { first, last } = summary.evaluation;
  return {
    seed,
    kind,
    pass: [first["eval/pass@1"], last["eval/pass@1"]],
    greedy: [first["eval/greedy"], last["eval/greedy"]],
    seconds: summary.seconds,
  };
}

const cell = ([before, after]) =>
  `${before.toFixed(3)} → ${after.toFixed(3)} (${after >= before ? "+" : "−"}${Math.abs(after - before).toFixed(3)})`;
const verdict = ({ kind, pass, greedy, seconds }) => {
  const gain = pass[1] - pass[0];
  const ok = kind !== "example" ? gain < 0.02 : gain >= 0.1 && greedy[1] >= greedy[0] && seconds < 300;
  return ok ? "yes" : "NO";
};

const results = [];
try {
  for (const seed of values.seeds.split(",").map(Number)) {
    for (const kind of values["no-control"] ? ["example"] : Object.keys(kinds)) {
      const result = await run(seed, kind);
      results.push(result);
      console.error(
        `seed ${seed} ${kind}: pass@1 ${cell(result.pass)}, greedy ${cell(result.greedy)}, ${result.seconds.toFixed(0)} s`,
      );
    }
  }
} finally {
  gradus(["daemon", "stop", "--force", "--store", store, "--json"]).on("close", () =>
    rmSync(store, { recursive: true, force: true }),
  );
}
console.log(
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown processor"}, Node ${process.version}`,
);
console.log("| seed | run | pass@1 | greedy | seconds | as wanted |\n|---|---|---|---|---|---|");
for (const result of results)
  console.log(
    `| ${result.seed} | ${result.kind} | ${cell(result.pass)} | ${cell(result.greedy)} | ${result.seconds.toFixed(0)} | ${verdict(result)} |`,
  );
for (const kind of Object.keys(kinds)) {
  const runs = results.filter((result) => result.kind === kind);
  if (runs.length === 0) continue;
  const gain = median(runs.map(({ pass }) => pass[1] - pass[0]));
  const setting = `${runs.length} seeds`;
  if (kind !== "example")
    measured({ what: `the control's gain in pass@1 (${kind})`, value: gain, unit: "", goal: 0.02, setting });
  else
    measured({
      what: "the example's gain in pass@1",
      value: gain,
      unit: "",
      goal: 0.1,
      least: true,
      setting,
    });
}
if (results.some((result) => verdict(result) === "NO")) process.exitCode = 1;
