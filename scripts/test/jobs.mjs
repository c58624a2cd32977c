// The jobs that the checks and tiers come to: one a check, a suite of the workbench, or a file of tests. It imports
// packages, so that a fresh clone can load it only once they are installed.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildNodeTests, buildWorkbenchTests, filesOf, joined, together } from "../testFiles.mjs";
import { runProgram } from "./runner.mjs";
import { bin, fillsMachine, long, longSuites } from "./tiers.mjs";

/** Tests that try a part of what there is, and all of it in the tier `long` (test/support/thorough.ts). */
const thoroughFiles = () =>
  ["unit", "lsp", "webview"]
    .flatMap(filesOf)
    .filter((file) => readFileSync(file, "utf8").includes("support/thorough.ts"));

export const longFiles = () => [...filesOf("long"), ...thoroughFiles()];

/** Counts of one program and, where the program itself went wrong, why. */
function outcome({ status, timedOut, seconds, counter, output }, limit) {
  const notes = counter.reasons.map((reason) => `skipped: ${reason}`);
  const { passed, failures } = counter;
  // Node counts the tests of a suite that is skipped as none, and prints why.
  const skipped = Math.max(counter.skipped, counter.reasons.length);
  const wrong = timedOut
    ? `did not end within ${limit} s`
    : status !== 0 && counter.failed === 0
      ? `ended with status ${status}`
      : passed + counter.failed + skipped === 0
        ? "ran no test"
        : undefined;
  if (wrong !== undefined) notes.push(wrong);
  const failed = Math.max(counter.failed, wrong === undefined ? 0 : 1);
  return {
    passed,
    failed,
    skipped,
    seconds,
    notes,
    failures: failed > 0 && failures.length === 0 ? output.trimEnd().split("\n") : failures,
  };
}

export const checkJob = ({ name, limit, run }, node) => ({
  tier: name,
  name,
  run: async (env) => {
    const { status, timedOut, seconds, output } = await runProgram(node, run, { env, limit, quiet: true });
    const failed = status === 0 && !timedOut ? 0 : 1;
    return {
      passed: 1 - failed,
      failed,
      skipped: 0,
      seconds,
      notes: timedOut ? [`did not end within ${limit} s`] : [],
      failures: failed === 0 ? [] : output.trimEnd().split("\n"),
    };
  },
});

const fileJob = (tier, file, built, node) => ({
  tier: tier.name,
  name: file,
  waits: tier.waits,
  run: async (env) => {
    const flags = ["--enable-source-maps", "--test-reporter=spec", built];
    return outcome(await runProgram(node, flags, { env, limit: tier.file, quiet: true }), tier.file);
  },
});

const suiteJob = (tier, label, node) => ({
  tier: tier.name,
  name: `workbench ${label}`,
  waits: true,
  run: async (env) => {
    const words = [bin("@vscode/test-cli", "out/bin.mjs"), "--label", label];
    const options = { env, limit: tier.file, style: "mocha", quiet: true };
    return outcome(await runProgram(node, words, options), tier.file);
  },
});

/** What a job comes to that is not begun, since the tier's time is over: not passed, so that no run of it looks whole. */
const unbegun = {
  passed: 0,
  failed: 1,
  skipped: 0,
  seconds: 0,
  notes: ["not begun: the tier's time is over; the same command goes on from here"],
  failures: [],
};

/** Those of the tier `long`, or the others. */
async function workbenchLabels(areLong) {
  await buildWorkbenchTests();
  const { suites } = await import("../../.vscode-test.mjs");
  return suites
    .map(({ label }) => label)
    .filter((label) => longSuites.includes(label) === areLong)
    .filter((label) => existsSync(join("out", "test", "workbench", label)));
}

const workbenchJobs = async (tier, node) =>
  (await workbenchLabels(false)).map((label) => suiteJob(tier, label, node));

/** A tier's jobs; without any, `notes` says why. `part`, `of`: every how manieth of its files, from which on. */
export async function tierJobs(tier, node, available, { part, of } = { part: 0, of: 1 }) {
  const files = filesOf(tier.name).filter((_, index) => index % of === part);
  const reason =
    files.length === 0
      ? `no tests in test/${tier.name}`
      : tier.needs === undefined
        ? undefined
        : available[tier.needs].skip;
  if (reason !== undefined)
    return { jobs: [], skipped: Math.max(1, files.length), notes: [`skipped: ${reason}`] };
  if (tier.name === "workbench") return { jobs: await workbenchJobs(tier, node), skipped: 0, notes: [] };
  const built = new Map((await buildNodeTests(files)).map((path, index) => [files[index], path]));
  const jobs = together(files, tier.together ?? 1).map((group, index) => {
    const [first] = group;
    if (group.length === 1) return fileJob(tier, first, built.get(first), node);
    const name = `${first} and ${group.length - 1} more of its room`;
    return fileJob(tier, name, joined(`${tier.name}-${index}`, group, built), node);
  });
  return { jobs, skipped: 0, notes: [] };
}

/**
 * Jobs of the tier `long` that have not passed for these sources. `passed` remembers each that does.
 * @param available what set-up has found
 */
export async function longJobs(passed, node, available, only = []) {
  const isWanted = (name) => only.length === 0 || only.some((word) => name.includes(word));
  const files = longFiles().filter(isWanted);
  if (files.length === 0)
    throw new Error(`no file of the tier ${long.name} has ${only.join(" or ")} in its path`);
  const built = await buildNodeTests(files);
  const ends = Date.now() + long.limit * 1000;
  const labels = available.workbench.skip === undefined ? (await workbenchLabels(true)).filter(isWanted) : [];
  const jobs = [
    ...files.map((file, index) => ({
      ...fileJob(long, file, built[index], node),
      alone: fillsMachine(file),
    })),
    ...labels.map((label) => suiteJob(long, label, node)),
  ];
  const open = jobs.filter(({ name }) => !passed.has(name));
  return {
    jobs: open.map((job) => ({
      ...job,
      run: async (env) => {
        if (Date.now() > ends) return unbegun;
        const result = await job.run({ ...env, GRADUS_THOROUGH: "1" });
        if (result.failed === 0) passed.add(job.name);
        return result;
      },
    })),
    skipped: jobs.length - open.length,
    notes: [
      ...(available.workbench.skip === undefined ? [] : [`skipped: ${available.workbench.skip}`]),
      ...jobs
        .filter((job) => !open.includes(job))
        .map(({ name }) => `skipped: ${name} passed for these sources; --again runs it once more`),
    ],
  };
}
