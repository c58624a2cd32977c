/** The folder that the pictures are taken of: the examples of people who post-train, and a run that has been recorded. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { rewardHash } from "../../server/methods/reward/own/fileHash.ts";
import { writeCollapsedRun, writeStarter } from "../support/collapsedRun.ts";
import { makeExperiment, makeSweep } from "../support/experimentRuns.ts";
import { recordRun } from "../support/storedRun.ts";
import { writeTraceRun } from "../support/traceRun.ts";

const fixtures = "test/fixtures";
const config = "countdown.gradus.yaml";
/** Of the run that went wrong. */
export const configOfStory = "story/starter.gradus.yaml";
/** Its reward pays for short answers: the run collapses. */
const terse = "terse.gradus.yaml";
/** Its episodes have several turns. */
const guess = "guess.gradus.yaml";

/** Files of other frameworks, by the names under which they are opened. */
const launches = {
  "verl.sh": "frameworks/verl/grpoPlain.sh",
  "trl.yaml": "frameworks/trl/dapo.yaml",
  "openrlhf.sh": "frameworks/openrlhf/grpoRay.sh",
} as const;

export const workspaces = {
  /** Examples of people who post-train, and a run that was recorded. */
  project: { make: makeProject, file: "countdown.gradus.yaml" },
  /** Two hundred runs of three configs. */
  many: { make: makeMany, file: "sums.gradus.yaml" },
  /** A run whose policy plays against a partner. */
  episodes: { make: makeEpisodes, file: guess },
} as const;
export type WorkspaceName = keyof typeof workspaces;

async function makeEpisodes(folder: string): Promise<string> {
  const root = resolve(folder);
  const text = readFileSync(join(fixtures, "pictures", guess), "utf8");
  const recorded = join(root, ".gradus", "recorded.yaml");
  if (existsSync(recorded) && readFileSync(recorded, "utf8") === text) return root;
  rmSync(root, { recursive: true, force: true });
  for (const name of [guess, "guesses.jsonl"])
    cpSync(join(fixtures, "pictures", name), join(root, name), { recursive: true });
  await recordRun(join(root, ".gradus"), join(root, guess), [], "guess", "guess");
  writeFileSync(recorded, text);
  return root;
}
async function makeMany(folder: string): Promise<string> {
  const root = resolve(folder);
  if (!existsSync(join(root, ".gradus"))) makeSweep(root, 200);
  return Promise.resolve(root);
}

/**
 * Makes the folder, or puts its files back as they were: the run, which takes a minute to record, is kept as long as
 * its config is the same.
 */
async function makeProject(folder: string): Promise<string> {
  const root = resolve(folder);
  const text = [config, terse].map((name) => readFileSync(join(fixtures, "pictures", name), "utf8")).join("");
  const recorded = join(root, ".gradus", "recorded.yaml");
  const fresh = !existsSync(recorded) || readFileSync(recorded, "utf8") !== text;
  if (fresh) rmSync(root, { recursive: true, force: true });
  cpSync(join(fixtures, "pictures"), root, { recursive: true });
  // What a scene before has labelled is not drawn again.
  for (const made of [
    "countdown.labels.jsonl",
    "countdown.reward.test.jsonl",
    "rewards/brevity.reward.test.jsonl",
  ])
    rmSync(join(root, made), { force: true });
  cpSync("examples/countdown/rewards", join(root, "rewards"), {
    recursive: true,
  });
  for (const [name, from] of Object.entries(launches)) cpSync(join(fixtures, from), join(root, name));
  cpSync(join(fixtures, "projects", "gsm"), join(root, "gsm"), {
    recursive: true,
  });
  mkdirSync(join(root, ".vscode"), { recursive: true });
  if (fresh) {
    console.log("recording two runs (once)");
    await recordRun(join(root, ".gradus"), join(root, config), [], "countdown");
    await recordRun(join(root, ".gradus"), join(root, terse), [], "terse", "terse");
    importRun(join(root, "gsm"));
    makeExperiment(join(root, "experiment"), join(root, ".gradus"));
    writeTraceRun(join(root, ".gradus"));
    writeFileSync(recorded, text);
  }
  if (!existsSync(join(root, configOfStory))) await writeStory(root);
  return root;
}

/** A run that is rewarded for saying nothing, and its reward as it was. */
async function writeStory(root: string): Promise<void> {
  const file = join(root, configOfStory);
  writeStarter(file);
  const bundles = {
    brevity: await rewardHash(join(root, "story", "brevity.ts"), "brevity"),
  };
  writeCollapsedRun(join(root, ".gradus"), file, { bundles });
}

/** A run of verl, with the reward and the script of the project. */
function importRun(project: string): void {
  cpSync(join(fixtures, "imported", "verl"), join(project, "out"), {
    recursive: true,
  });
  const words = [resolve("dist", "cli.mjs"), "runs", "import", "out", "--config", "run.sh"];
  execFileSync(process.execPath, words, {
    cwd: project,
    stdio: ["ignore", "ignore", "inherit"],
  });
}
