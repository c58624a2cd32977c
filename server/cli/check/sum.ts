/** All that can be said of a file or a folder: launches and configs as `validate` says it, rewards, and logs. */
import { resolve } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { plural } from "../../../shared/lib/format.ts";
import { liesIn } from "../../../shared/lib/liesIn.ts";
import type {
  CheckedTrainer,
  Finding,
  FolderSum,
  TrainerCheckout,
} from "../../../shared/editor/folderSum.ts";
import { statsOf } from "../../lib/inputFile.ts";
import { checkoutsOf, type Checkout } from "../../frameworks/readers/ownCheckout.ts";
import { check, isUnchecked, uncheckedByTrainer, type Checked } from "../validate/check.ts";
import { dumpedRollouts } from "../validate/dumps.ts";
import { nothingIn, wantedFiles, type SelectedFile } from "../validate/files.ts";
import { pathText } from "../text/diagnostics.ts";
import { uncheckedTexts } from "../validate/json.ts";
import { worstFirst } from "./finding.ts";
import { ignored } from "./ignored.ts";
import { logsBelow, verdictsOf } from "./logs.ts";
import { ownReward, tryReward, type OwnReward } from "./rewards.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

interface SumOptions {
  /** Whether functions of the folder may run. */
  readonly runs: boolean;
  /** How long rewards may be tried, all together. */
  readonly seconds: number;
  /** Patterns of files and folders that are left out. */
  readonly ignore: readonly string[];
}

/** Files that are looked at below a folder. */
const most = 20_000;

export async function sumOf(word: string, { runs, seconds, ignore }: SumOptions): Promise<FolderSum> {
  const stats = statsOf(word);
  if (stats === undefined)
    throw new UserError(`there is no \`${word}\``, {
      code: "missing-file",
      action: "Name a file or a folder that is there; without a name the current folder is checked.",
    });
  const isIgnored = ignored(ignore);
  const logs = logsBelow(word, most, isIgnored);
  const { checked, checkouts } = logs.includes(word)
    ? { checked: [], checkouts: [] }
    : configurationsOf(word, logs.length > 0, isIgnored);
  const whole = checked.filter((one) => !isUnchecked(one));
  const projects = whole.map(({ file }) => file);
  const read = verdictsOf(logs);
  const isOwn = ({ trainersReward }: Checked): boolean => runs || trainersReward !== true;
  const rewardOf = new Map(
    whole.filter(isOwn).map(({ file, diagnostics }) => [file, ownReward(file, diagnostics)]),
  );
  const own = projects.filter((file) => rewardOf.get(file) === "one");
  const rewards = runs ? await triedRewards(rewardOf, seconds) : { findings: [], left: untried(own) };
  const findings = [...checked.flatMap(diagnosed), ...rewards.findings, ...read.findings];
  return {
    findings: once(worstFirst(findings)),
    projects,
    logs: read.logs,
    unchecked: uncheckedOf(checked),
    trainers: trainersOf(checked),
    outputs: dumpedRollouts([word], checked, most)
      .map(({ from: folder, steps, config }) => ({ folder, steps, config }))
      .filter(({ folder }) => !isIgnored(folder)),
    checkouts: checkouts.map((one) => withYours(one, projects)),
    rewards: own,
    // Of a folder its count is enough; who names a file is told why.
    left: [...rewards.left, ...read.left, ...(stats.isFile() ? leftOfFile(word, read.logs, checked) : [])],
  };
}

/** A log without metrics is none. */
const leftOfFile = (file: string, logs: readonly string[], checked: readonly Checked[]): readonly string[] =>
  logs.length + checked.length === 0
    ? [`${file}: no line of it has metrics of verl or TRL.`]
    : uncheckedTexts(checked);

interface Configurations {
  readonly checked: readonly Checked[];
  readonly checkouts: readonly Checkout[];
}

/** Without a trainer's own examples. A folder may hold logs alone. */
function configurationsOf(
  word: string,
  hasLogs: boolean,
  isIgnored: (file: string) => boolean,
): Configurations {
  const wanted = wantedIn(word, hasLogs).filter(({ file }) => !isIgnored(file));
  const checkouts = checkoutsOf(
    word,
    wanted.filter(({ found }) => found).map(({ file }) => file),
  );
  const isTrainers = ({ file, found }: SelectedFile): boolean =>
    found && checkouts.some((one) => liesIn(file, one.folder) && !one.isYours(file));
  const options = { set: [], skipOthers: false, fix: false };
  const checked = wanted.filter((one) => !isTrainers(one)).flatMap((one) => check(one, options) ?? []);
  if (checked.length + checkouts.length === 0 && !hasLogs) throw nothingIn([word]);
  return { checked, checkouts };
}

function wantedIn(word: string, hasLogs: boolean): readonly SelectedFile[] {
  try {
    return wantedFiles([word], most);
  } catch (error) {
    if (hasLogs && error instanceof UserError && error.detail.code === "usage") return [];
    throw error;
  }
}

/** Each by each of its releases. */
function trainersOf(checked: readonly Checked[]): readonly CheckedTrainer[] {
  const all = new Map<string, { trainer: string; version: string; assumed: boolean; files: string[] }>();
  for (const { file, release } of checked) {
    if (release === undefined) continue;
    const { framework: trainer, version, from } = release;
    const assumed = from === "newest";
    const key = JSON.stringify([trainer, version, assumed]);
    const one = all.get(key) ?? { trainer, version, assumed, files: [] };
    one.files.push(file);
    all.set(key, one);
  }
  return [...all.values()];
}

const withYours = ({ folder, trainer, version }: Checkout, projects: readonly string[]): TrainerCheckout => ({
  trainer,
  version,
  folder: relativePath(".", folder) || ".",
  yours: projects.filter((file) => liesIn(file, folder)),
});

const uncheckedOf = (checked: readonly Checked[]): FolderSum["unchecked"] =>
  uncheckedByTrainer(checked).map(({ trainer = "no trainer known here", files }) => ({
    trainer,
    files: files.map(({ file }) => file),
  }));

const diagnosed = ({ file, diagnostics }: Checked): Finding[] =>
  diagnostics.map(({ severity, rule, message, range, cell, file: at, fixes }) => ({
    file: resolve(at) === resolve(file) ? file : pathText(at),
    ...(cell === undefined ? {} : { cell }),
    line: range.start.line + 1,
    severity,
    by: "validate",
    rule,
    ...(fixes.filter(({ preferred }) => preferred === true).length === 1 && { fixable: true }),
    message,
  }));

/**
 * Launches of one project often share what is wrong: a reward's file, a base config. Of what a rule reads and the reward shows as
 * well, for the same reason at the same place, the reward's word is enough.
 */
const once = (findings: readonly Finding[]): readonly Finding[] => {
  const kept = new Map<string, Finding>();
  for (const finding of findings) {
    const { file, cell, line, message, fixable } = finding;
    const key = JSON.stringify([file, cell, line, reasonIn(message)]);
    const first = kept.get(key);
    // What the rule's finding can have mended is mended for both.
    kept.set(key, first === undefined ? finding : { ...first, ...(fixable === true && { fixable }) });
  }
  return [...kept.values()];
};

/** "`format`: the format that your prompt shows earns 0 of 0.5: WHY": what follows the last colon of its first line. */
const reasonIn = (message: string): string | undefined => message.split("\n", 1)[0]?.split(": ").at(-1);

/** What is said where functions of the folder may not run. */
function untried(own: readonly string[]): readonly string[] {
  if (own.length === 0) return [];
  const [whose, them] =
    own.length === 1
      ? [`the reward of ${own[0]}`, "it"]
      : [`the rewards of ${plural(own.length, "project")}`, "them"];
  return [`${whose} did not run: \`gradus check --run\` tries ${them}, in a folder that you trust.`];
}

async function triedRewards(
  rewards: ReadonlyMap<string, OwnReward>,
  seconds: number,
): Promise<{ readonly findings: readonly Finding[]; readonly left: readonly string[] }> {
  const signal = AbortSignal.timeout(seconds * 1000);
  const findings: Finding[] = [];
  const left: string[] = [];
  for (const [file, own] of rewards) {
    const tried = await tryReward(file, own, signal);
    findings.push(...tried.findings);
    left.push(...tried.notes);
  }
  return { findings, left };
}
