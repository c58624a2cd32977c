// `npm test`: sets up what the tests need, then every check and every tier, in order, each to its end. The last line
// counts. `npm run check` runs the checks only; `node scripts/test.mjs unit rpc` the tiers that are named. The tier
// `long` runs only where it is named (`npm run test:long`), and its files that passed for these sources only `--again`.
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { home } from "./setup/places.mjs";
import { report, setUp } from "./setup.mjs";
import { Passed, sourcesNow } from "./test/passed.mjs";
import { endAll, runProgram, sweep } from "./test/runner.mjs";

process.chdir(home);
const bin = (name, file = name) => join("node_modules", name, file);

const checks = [
  { name: "types", limit: 300, run: [bin("typescript", "bin/tsc"), "-p", "."] },
  { name: "lint", limit: 300, run: [bin("eslint", "bin/eslint.js"), "."] },
  // Who imports whom: .dependency-cruiser.mjs is the table of floors.
  {
    name: "floors",
    limit: 120,
    run: [
      bin("dependency-cruiser", "bin/dependency-cruise.mjs"),
      "--config",
      ".dependency-cruiser.mjs",
      "server",
      "shared",
      "extension",
      "webviews",
    ],
  },
  {
    name: "format",
    limit: 120,
    run: [bin("prettier", "bin/prettier.cjs"), "--check", "--log-level=warn", "."],
  },
];

/**
 * Limits in seconds, several times what a tier (and each of its files) takes on two cores. `needs` names what set-up
 * may not have found; of what a tier `likes`, single tests look for it themselves and say why they were skipped.
 */
const tiers = [
  // By itself, node leaves one core idle: on two, files would run one after the other.
  { name: "unit", limit: 1800, file: 300, concurrency: availableParallelism() },
  { name: "rpc", limit: 900, file: 300, concurrency: 1 },
  { name: "lsp", limit: 300, file: 120, concurrency: 1, likes: ["neovim", "preCommit"] },
  { name: "webview", limit: 300, file: 120, concurrency: 1, needs: "browser" },
  { name: "workbench", limit: 300, needs: "workbench" },
  { name: "scenario", limit: 1200, file: 420, concurrency: 1, needs: "workbench" },
];

/** Only where it is named, file by file: about 45 minutes at most in all. */
const long = { name: "long", limit: 2700, file: 2700, concurrency: 1 };

const row = (name, rest) => ({
  name,
  passed: 0,
  failed: 0,
  skipped: 0,
  seconds: 0,
  notes: [],
  failures: [],
  ...rest,
});

/** Counts and, where the program itself went wrong, why. */
function outcome(name, { status, timedOut, seconds, counter }, limit) {
  const notes = counter.reasons.map((reason) => `skipped: ${reason}`);
  let { failed } = counter;
  if (timedOut) notes.push(`did not end within ${limit} s`);
  else if (status !== 0 && failed === 0) notes.push(`ended with status ${status}`);
  else if (counter.passed + failed + counter.skipped === 0) notes.push("ran no test");
  if (failed === 0 && (timedOut || status !== 0 || counter.passed + counter.skipped === 0)) failed = 1;
  const { passed, skipped, failures } = counter;
  return row(name, { passed, failed, skipped, seconds, notes, failures });
}

async function runCheck({ name, limit, run }, node, env) {
  const { status, timedOut, seconds, output } = await runProgram(node, run, { env, limit });
  const failed = status === 0 && !timedOut ? 0 : 1;
  return row(name, {
    passed: 1 - failed,
    failed,
    seconds,
    notes: timedOut ? [`did not end within ${limit} s`] : [],
    failures: failed === 0 ? [] : output.trimEnd().split("\n"),
  });
}

async function runWorkbench({ name, limit }, node, env) {
  const { buildWorkbenchTests } = await import("./testFiles.mjs");
  await buildWorkbenchTests();
  const { suites } = await import("../.vscode-test.mjs");
  const total = row(name);
  for (const { label } of suites) {
    if (!existsSync(join("out", "test", "workbench", label))) {
      total.notes.push(`skipped: there is no suite ${label}`);
      total.skipped += 1;
      continue;
    }
    console.log(`\n# workbench ${label}`);
    const result = outcome(
      label,
      await runProgram(node, [bin("@vscode/test-cli", "out/bin.mjs"), "--label", label], {
        env,
        limit,
        style: "mocha",
      }),
      limit,
    );
    for (const key of ["passed", "failed", "skipped", "seconds"]) total[key] += result[key];
    total.notes.push(...result.notes.map((note) => `${label}: ${note}`));
    total.failures.push(...result.failures);
  }
  return total;
}

async function runTier(tier, node, env, available) {
  const { filesOf } = await import("./testFiles.mjs");
  const files = filesOf(tier.name);
  if (files.length === 0)
    return row(tier.name, { skipped: 1, notes: [`skipped: no tests in test/${tier.name}`] });
  const reason = tier.needs === undefined ? undefined : available[tier.needs].skip;
  if (reason !== undefined) return row(tier.name, { skipped: files.length, notes: [`skipped: ${reason}`] });
  if (tier.name === "workbench") return runWorkbench(tier, node, env);
  return runFiles(tier, files, node, env);
}

async function runFiles(tier, files, node, env) {
  const { buildNodeTests } = await import("./testFiles.mjs");
  const built = await buildNodeTests(files);
  const flags = [
    "--enable-source-maps",
    "--test",
    "--test-reporter=spec",
    `--test-timeout=${tier.file * 1000}`,
    ...(tier.concurrency === undefined ? [] : [`--test-concurrency=${tier.concurrency}`]),
  ];
  return outcome(
    tier.name,
    await runProgram(node, [...flags, ...built], { env, limit: tier.limit }),
    tier.limit,
  );
}

/** One file after the other, each within what is left of the tier's time; what passed before is not run again. */
async function runLong(tier, node, env, again) {
  const { filesOf } = await import("./testFiles.mjs");
  const passed = new Passed(sourcesNow(), { again });
  const total = row(tier.name);
  for (const file of filesOf(tier.name)) {
    if (passed.has(file)) {
      total.skipped += 1;
      total.notes.push(`skipped: ${file} passed for these sources; --again runs it once more`);
      continue;
    }
    const limit = Math.max(1, Math.floor(tier.limit - total.seconds));
    const result = await runFiles({ ...tier, limit, file: limit }, [file], node, env);
    for (const key of ["passed", "failed", "skipped", "seconds"]) total[key] += result[key];
    total.notes.push(...result.notes.map((note) => `${file}: ${note}`));
    total.failures.push(...result.failures);
    if (result.failed === 0) passed.add(file);
  }
  return total;
}

/** Lines of a tier's failures that are told once more at the end, where whoever reads only a log's end finds them. */
const most = 200;

function printFailures({ name, failures }) {
  if (failures.length === 0) return;
  console.log(`\n== ${name}: what failed\n${failures.slice(0, most).join("\n")}`);
  if (failures.length > most) console.log(`… ${failures.length - most} lines more, above`);
}

function printTable(rows) {
  const line = (name, ...cells) =>
    console.log(`${name.padEnd(12)}${cells.map((cell) => String(cell).padStart(9)).join("")}`);
  console.log("");
  line("", "passed", "failed", "skipped", "seconds");
  for (const { name, passed, failed, skipped, seconds } of rows)
    line(name, passed, failed, skipped, seconds.toFixed(1));
  const notes = rows.flatMap(({ name, notes }) => notes.map((note) => `${name}: ${note}`));
  if (notes.length > 0) console.log(`\n${notes.join("\n")}`);
  const sum = (key) => rows.reduce((total, each) => total + each[key], 0);
  console.log(`\n${sum("passed")} passed, ${sum("failed")} failed, ${sum("skipped")} skipped`);
  return sum("failed");
}

async function main(given) {
  const again = given.includes("--again");
  const words = given.filter((word) => word !== "--again");
  const wanted = (name) => words.length === 0 || words.includes(name);
  const steps = [
    ...checks.filter(({ name }) => wanted("check") || wanted(name)).map((check) => ["check", check]),
    ...tiers.filter(({ name }) => wanted(name)).map((tier) => ["tier", tier]),
    ...(words.includes(long.name) ? [["long", long]] : []),
  ];
  if (steps.length === 0)
    throw new Error(
      `no check or tier is called ${words.join(" ")}; there are check, ${[...checks, ...tiers, long].map(({ name }) => name).join(", ")}`,
    );
  const record = await setUp({
    tests: steps.some(([, { needs, likes }]) => needs !== undefined || likes !== undefined),
  });
  const runtime = mkdtempSync(join(tmpdir(), "gt-"));
  const mark = `GRADUS_TEST_RUN=${randomUUID()}`;
  // However this ends, nothing that it started or wrote aside stays.
  process.on("exit", () => {
    endAll(mark);
    try {
      rmSync(runtime, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    } catch (error) {
      // A process that is just being ended may still write.
      console.error(`${runtime} could not be removed: ${error.message}`);
    }
  });
  const env = {
    GRADUS_TEST_RUN: mark.split("=")[1],
    XDG_RUNTIME_DIR: runtime,
    TMPDIR: runtime,
    ...(record.tests?.browser.path === undefined ? {} : { CHROMIUM: record.tests.browser.path }),
  };
  const rows = [];
  for (const [kind, step] of steps) {
    console.log(`\n== ${step.name}`);
    const run =
      kind === "check"
        ? runCheck(step, record.node.path, env)
        : kind === "long"
          ? runLong(step, record.node.path, env, again)
          : runTier(step, record.node.path, env, record.tests ?? {});
    const result = await run.catch((error) => row(step.name, { failed: 1, notes: [error.message] }));
    const left = await sweep(mark);
    if (left.length > 0) {
      result.failed += 1;
      result.notes.push(
        ...left.map(({ pid, command }) => `left process ${pid} running: ${command.slice(0, 160)}`),
      );
    }
    rows.push(result);
  }
  rows.forEach(printFailures);
  return printTable(rows) === 0 ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.exitCode = report(error);
}
