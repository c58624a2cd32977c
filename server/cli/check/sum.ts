/** All that can be said of a file or a folder: launches and configs as `validate` says it, rewards, and logs. */
import { resolve } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { plural } from "../../../shared/lib/format.ts";
import { checkAll, isUnchecked, uncheckedByTrainer, type Checked } from "../validate/check.ts";
import { pathText } from "../text/diagnostics.ts";
import { worstFirst, type Finding, type Sum } from "./finding.ts";
import { logsBelow, verdictsOf } from "./logs.ts";
import { hasOwnReward, tryReward } from "./rewards.ts";

interface SumOptions {
  /** Whether functions of the folder may run. */
  readonly runs: boolean;
  /** How long rewards may be tried, all together. */
  readonly seconds: number;
}

/** Files that are looked at below a folder. */
const most = 20_000;

export async function sumOf(word: string, { runs, seconds }: SumOptions): Promise<Sum> {
  const logs = logsBelow(word, most);
  const checked = logs.includes(word) ? [] : configurationsOf(word, logs.length > 0);
  const projects = checked.filter((one) => !isUnchecked(one)).map(({ file }) => file);
  const read = verdictsOf(logs);
  const rewards = await rewardsOf(projects, { runs, seconds });
  const findings = [...checked.flatMap(diagnosed), ...rewards.findings, ...read.findings];
  return {
    findings: once(worstFirst(findings)),
    projects,
    logs: read.logs,
    unchecked: uncheckedOf(checked),
    left: rewards.left,
  };
}

/** A folder may hold logs alone. */
function configurationsOf(word: string, hasLogs: boolean): readonly Checked[] {
  try {
    return checkAll([word], { set: [], skipOthers: false, fix: false, most });
  } catch (error) {
    if (hasLogs && error instanceof UserError && error.detail.code === "usage") return [];
    throw error;
  }
}

const uncheckedOf = (checked: readonly Checked[]): Sum["unchecked"] =>
  uncheckedByTrainer(checked).map(({ trainer = "no trainer known here", files }) => ({
    trainer,
    files: files.map(({ file }) => file),
  }));

const diagnosed = ({ file, diagnostics }: Checked): Finding[] =>
  diagnostics.map(({ severity, rule, message, range, cell, file: at }) => ({
    file: resolve(at) === resolve(file) ? file : pathText(at),
    ...(cell === undefined ? {} : { cell }),
    line: range.start.line + 1,
    severity,
    by: "validate",
    rule,
    message,
  }));

/**
 * Launches of one project often share what is wrong: a reward's file, a base config. Of what a rule reads and the reward shows as
 * well, for the same reason at the same place, the reward's word is enough.
 */
const once = (findings: readonly Finding[]): readonly Finding[] => {
  const seen = new Set<string>();
  return findings.filter(({ file, cell, line, message }) => {
    const key = JSON.stringify([file, cell, line, reasonIn(message)]);
    return !seen.has(key) && seen.add(key);
  });
};

/** "`format`: the format that your prompt shows earns 0 of 0.5: WHY": what follows the last colon of its first line. */
const reasonIn = (message: string): string | undefined => message.split("\n", 1)[0]?.split(": ").at(-1);

async function rewardsOf(
  files: readonly string[],
  { runs, seconds }: SumOptions,
): Promise<{ readonly findings: readonly Finding[]; readonly left: readonly string[] }> {
  if (!runs) {
    const own = files.filter((file) => hasOwnReward(file));
    if (own.length === 0) return { findings: [], left: [] };
    const whose =
      own.length === 1 ? `the reward of ${own[0]}` : `the rewards of ${plural(own.length, "project")}`;
    return {
      findings: [],
      left: [
        `${whose} did not run: \`gradus check --run\` tries ${own.length === 1 ? "it" : "them"}, in a folder that you trust.`,
      ],
    };
  }
  const signal = AbortSignal.timeout(seconds * 1000);
  const findings: Finding[] = [];
  const left: string[] = [];
  for (const file of files) {
    const tried = await tryReward(file, signal);
    findings.push(...tried.findings);
    left.push(...tried.notes);
  }
  return { findings, left };
}
