// Does the example learn? Runs it for seeds 1 to 5, each beside its control (advantages scaled to zero), and prints a table.
//   npm run bench -- learning [--seeds 1,2,3] [--no-control] [--config FILE] [--set path=value]…
// Needs a quiet machine for its seconds; the rest does not depend on it. Each run goes through `gradus run --json`.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
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

async function run(seed, settings) {
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
      process.stderr.write(`\r  seed ${seed} ${settings.join(" ")} step ${line.step}   `);
    if (line.type === "summary") summary = line;
  }
  process.stderr.write("\r");
  if (summary?.status !== "finished")
    throw new Error(`seed ${seed} ${settings.join(" ")}: ${summary?.status} ${summary?.message}`);
  const { first, last } = summary.evaluation;
  return {
    seed,
    control: settings.length > 0,
    pass: [first["eval/pass@1"], last["eval/pass@1"]],
    greedy: [first["eval/greedy"], last["eval/greedy"]],
    seconds: summary.seconds,
  };
}

const cell = ([before, after]) =>
  `${before.toFixed(3)} → ${after.toFixed(3)} (${after >= before ? "+" : "−"}${Math.abs(after - before).toFixed(3)})`;
const verdict = ({ control, pass, greedy, seconds }) => {
  const gain = pass[1] - pass[0];
  const ok = control ? gain < 0.02 : gain >= 0.1 && greedy[1] >= greedy[0] && seconds < 300;
  return ok ? "yes" : "NO";
};

const results = [];
try {
  for (const seed of values.seeds.split(",").map(Number)) {
    for (const settings of values["no-control"] ? [[]] : [[], ["advantage.scale=zero"]]) {
      const result = await run(seed, settings);
      results.push(result);
      console.error(
        `seed ${seed} ${result.control ? "control" : "example"}: pass@1 ${cell(result.pass)}, greedy ${cell(result.greedy)}, ${result.seconds.toFixed(0)} s`,
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
    `| ${result.seed} | ${result.control ? "control" : "example"} | ${cell(result.pass)} | ${cell(result.greedy)} | ${result.seconds.toFixed(0)} | ${verdict(result)} |`,
  );
for (const control of [false, true]) {
  const runs = results.filter((result) => result.control === control);
  if (runs.length === 0) continue;
  const gain = median(runs.map(({ pass }) => pass[1] - pass[0]));
  const setting = `${runs.length} seeds`;
  if (control) measured({ what: "the control's gain in pass@1", value: gain, unit: "", goal: 0.02, setting });
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
