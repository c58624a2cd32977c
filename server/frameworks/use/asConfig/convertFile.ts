/** A configuration of verl, TRL or OpenRLHF as the text of a config that loads in its place. */
import { basename, dirname, extname } from "node:path";
import { isMap, isSeq, parseDocument, type Document } from "yaml";
import { UserError } from "../../../../shared/lib/errors.ts";
import { configKind, isConfigName, looksOwn } from "../../../config/configKind.ts";
import { grammar } from "../../../config/grammar/grammar.ts";
import { pythonText } from "../../../lib/notebook/notebook.ts";
import { convert, type Converted } from "../../trainers/convert.ts";
import { instead, otherTrainer, whatIsDone } from "../../readers/otherTrainer.ts";
import { smallText } from "../../text/fileReader.ts";
import { parseConfig } from "../../readers/index.ts";

/** Of these no config of Gradus is made. */
const scripts = [".sh", ".bash", ".slurm", ".sbatch", ".py", ".ipynb"];

/**
 * undefined where the text is a config of Gradus, or no configuration at all.
 * @param file where the text lies: paths in it begin in its folder
 * @param set what is set at the command line: `model.base=tiny` rehearses with a small model
 * @param rows a file with the rows that its script has built
 * @throws UserError where it is another trainer's, or one of the three that has no counterpart
 */
export function asConfig(
  file: string,
  text: string,
  set: readonly string[] = [],
  rows?: string,
): Converted | undefined {
  if (isConfigName(file)) return undefined;
  if (!scripts.includes(extname(file)) && parseConfig(file, text) === undefined) {
    refuseOther(file, text);
    return undefined;
  }
  const converted = convert(file, text, undefined, rows);
  const document = parseDocument(converted.config);
  if (!document.has("name")) document.set("name", nameOf(file));
  if (set.some((one) => /^model(\.base)?\s*=\s*tiny\s*$/.test(one))) rehearse(document);
  return { ...converted, config: document.toString({ lineWidth: 0, flowCollectionPadding: true }) };
}

/** Whether a file that nobody named is a configuration of the three that has a counterpart. */
export function converts(file: string): boolean {
  if (![...scripts, ".yaml", ".yml"].includes(extname(file)) || isConfigName(file)) return false;
  const text = smallText(file);
  if (text === undefined) return false;
  try {
    const read = pythonText(file, text);
    return parseConfig(file, read) !== undefined && asConfig(file, read) !== undefined;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}

function refuseOther(file: string, text: string): void {
  if (configKind(text) === "gradus" && looksOwn(text, Object.keys(grammar.fields))) return;
  const other = otherTrainer(file, text);
  if (other === undefined) return;
  throw new UserError(`this is a ${other.form} of ${other.name}, ${whatIsDone(other)}`, {
    file,
    code: "unknown-config",
    action:
      instead(other, basename(file)) ?? "It reads its own configs, and those of verl, TRL and OpenRLHF.",
  });
}

/** `run.sh` says less than its folder. */
function nameOf(file: string): string {
  const stem = basename(file, extname(file));
  const folder = basename(dirname(file));
  return /^(run|train|main|launch|start|job|grpo|ppo|config)$/i.test(stem) && folder !== "" ? folder : stem;
}

/** Letters of a token, about: a tiny model reads letters. */
const letters = 4;

/** Small models in the place of those that are not on this machine, with room for the same prompts. */
function rehearse(document: Document): void {
  const tasks = document.get("tasks");
  const limits: number[] = [];
  for (const task of isSeq(tasks) ? tasks.items : []) {
    const most: unknown = isMap(task) ? task.get("max_prompt") : undefined;
    if (!isMap(task) || typeof most !== "number") continue;
    limits.push(most);
    task.set("max_prompt", most * letters);
    if (task.get("overlong") === "error") task.set("overlong", "filter");
  }
  const response: unknown = document.getIn(["rollout", "max_tokens"]);
  const longest = limits.length === 0 ? 512 : Math.max(...limits);
  const context = longest * letters + (typeof response === "number" ? response : 512);
  const others = document.get("models");
  const names = isMap(others) ? others.items.map(({ key }) => ["models", String(key)]) : [];
  for (const path of [["model"], ...names]) {
    document.setIn([...path, "base"], "tiny");
    document.setIn([...path, "context"], context);
  }
}
