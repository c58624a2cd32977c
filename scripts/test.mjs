// `npm test`: sets up what the tests need, then every check and every tier, side by side, each to its end. The last line
// counts. `npm run check` runs the checks only; `node scripts/test.mjs unit rpc` the tiers that are named, with
// `--part=2/3` every third of their files from the second on. The tier
// `long` runs only where it is named (`npm run test:long`), and its files that passed for these sources only `--again`;
// `npm run test:long -- windows`: those of its files that have the word in their path.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, constants, tmpdir } from "node:os";
import { join } from "node:path";
import { home } from "./setup/places.mjs";
import { report, setUp } from "./setup.mjs";
import { Passed, sourcesNow } from "./test/passed.mjs";
import { runPool } from "./test/pool.mjs";
import { printFailures, printJob, printTable } from "./test/print.mjs";
import { endAll, sweep } from "./test/runner.mjs";
import { checks, long, tiers } from "./test/tiers.mjs";

process.chdir(home);

const keys = ["passed", "failed", "skipped", "seconds"];

const known = new Set(["check", ...[...checks, ...tiers].map(({ name }) => name)]);

/** What the words on the command line ask for; throws where one is the name of nothing. */
function chosen(words) {
  const wanted = (name) => words.length === 0 || words.includes(name);
  const found = {
    checks: checks.filter(({ name }) => wanted("check") || wanted(name)),
    tiers: tiers.filter(({ name }) => wanted(name)),
    long: words.includes(long.name),
  };
  if (found.long) return { ...found, only: words.filter((name) => name !== long.name && !known.has(name)) };
  if (found.checks.length + found.tiers.length > 0 || found.long) return found;
  const names = ["check", ...[...checks, ...tiers, long].map(({ name }) => name)];
  throw new Error(`no check or tier is called ${words.join(" ")}; there are ${names.join(", ")}`);
}

/** Rows of the table, one a check or tier, each with its jobs still to run. */
async function rowsOf({ checks, tiers, long: runsLong, only = [] }, record, { again, part }) {
  const { checkJob, longJobs, tierJobs } = await import("./test/jobs.mjs");
  const { removeBuilt } = await import("./testFiles.mjs");
  if (tiers.length > 0 || runsLong) removeBuilt();
  const row = (name, { jobs, skipped = 0, notes = [] }) => ({
    name,
    jobs,
    passed: 0,
    failed: 0,
    skipped,
    seconds: 0,
    notes,
    failures: [],
  });
  const node = record.node.path;
  const rows = checks.map((check) => row(check.name, { jobs: [checkJob(check, node)] }));
  for (const tier of tiers) rows.push(row(tier.name, await tierJobs(tier, node, record.tests ?? {}, part)));
  if (runsLong)
    rows.push(row(long.name, await longJobs(new Passed(sourcesNow(), { again }), node, record.tests, only)));
  return rows;
}

/** `--part=2/3` as {part: 1, of: 3}. */
function partIn(words) {
  const word = words.find((one) => one.startsWith("--part="));
  if (word === undefined) return undefined;
  const [part, of] = word.slice("--part=".length).split("/").map(Number);
  if (Number.isInteger(part) && Number.isInteger(of) && part >= 1 && part <= of)
    return { part: part - 1, of };
  throw new Error(`${word} is no part: write --part=2/3`);
}

/** Folders and names that a run of the tests has for itself; `end` leaves nothing of it. */
function ownRun(record, programs) {
  const runtime = mkdtempSync(join(tmpdir(), "gt-"));
  const mark = `GRADUS_TEST_RUN=${randomUUID()}`;
  let jobs = 0;
  return {
    /** An environment for a job, and the mark by which everything that it starts is found. */
    environment: () => {
      const own = `${mark}.${(jobs += 1)}.`;
      return {
        own,
        env: {
          GRADUS_TEST_RUN: own.split("=")[1],
          XDG_RUNTIME_DIR: runtime,
          TMPDIR: runtime,
          ...programs,
          ...(record.tests?.browser.path === undefined ? {} : { CHROMIUM: record.tests.browser.path }),
        },
      };
    },
    end: () => {
      endAll(mark);
      try {
        rmSync(runtime, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
      } catch (error) {
        // A process that is just being ended may still write.
        console.error(`${runtime} could not be removed: ${error.message}`);
      }
    },
  };
}

async function runJob(job, own) {
  const { own: mark, env } = own.environment();
  const result = await job.run(env).catch((error) => ({
    passed: 0,
    failed: 1,
    skipped: 0,
    seconds: 0,
    notes: [error.message],
    failures: [],
  }));
  const left = await sweep(mark);
  if (left.length === 0) return result;
  return {
    ...result,
    failed: result.failed + 1,
    notes: [
      ...result.notes,
      ...left.map(({ pid, command }) => `left process ${pid} running: ${command.slice(0, 160)}`),
    ],
  };
}

function add(row, job, result) {
  for (const key of keys) row[key] += result[key];
  const named = job.name === row.name ? "" : `${job.name}: `;
  row.notes.push(...result.notes.map((note) => `${named}${note}`));
  if (result.failures.length > 0) row.failures.push({ job: job.name, lines: result.failures });
}

async function main(given) {
  const options = { again: given.includes("--again"), part: partIn(given) };
  const asked = chosen(given.filter((word) => !word.startsWith("--")));
  const record = await setUp({
    tests: asked.long || asked.tiers.some(({ needs, likes }) => needs !== undefined || likes !== undefined),
  });
  // What imports packages is loaded now that set-up has installed them.
  const { buildPrograms } = await import("./test/programs.mjs");
  const own = ownRun(record, asked.tiers.length > 0 || asked.long ? await buildPrograms() : {});
  process.on("exit", own.end);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  const started = Date.now();
  const rows = await rowsOf(asked, record, options);
  // Tiers that wait come first: what computes fills the other processors, and at the end all of them.
  const jobs = rows
    .flatMap((row) => row.jobs)
    .sort((a, b) => Number(b.waits ?? false) - Number(a.waits ?? false));
  await runPool(jobs, {
    processors: availableParallelism(),
    run: (job) => runJob(job, own),
    done: (job, result) => {
      printJob(job, result);
      add(
        rows.find(({ name }) => name === job.tier),
        job,
        result,
      );
    },
  });
  rows.forEach(printFailures);
  return printTable(rows, (Date.now() - started) / 1000) === 0 ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.exitCode = report(error);
}
