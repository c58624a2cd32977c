/**
 * Whether a text starts or configures verl, TRL or OpenRLHF, found in a few milliseconds: by the module or command that
 * it starts or imports, never by a single key. The language server looks closely afterwards (server/frameworks/readers).
 */
import type { TrainerThat } from "../run/trainers.ts";

type Trainer = TrainerThat<"checked">;
type TrainerLanguage = "python" | "shellscript" | "yaml";
export const trainerLanguages: readonly string[] = [
  "python",
  "shellscript",
  "yaml",
] satisfies TrainerLanguage[];
/** What is looked at: a launch is in the first lines of a script, and a file of megabytes is data. */
const mostCharacters = 60_000;

/** This alone decides nearly every file. */
const anyName = /verl|trl|openrlhf/i;

export function trainerIn(text: string, language: string): Trainer | undefined {
  const head = text.length > mostCharacters ? text.slice(0, mostCharacters) : text;
  if (!anyName.test(head) && !(language === "yaml" && /^actor_rollout_ref\s*:/m.test(head))) return undefined;
  if (language === "python") return inPython(head);
  if (language === "shellscript") return startedBy(withoutComments(head));
  return language === "yaml" ? inYaml(head) : undefined;
}

/** Commands by which each is started, in a script, a `run:` block or a `bash -c`. */
const starts: readonly (readonly [Trainer, RegExp])[] = [
  ["verl", /(?:^|[\s"'=])-m[ \t]+verl\.(?:trainer|experimental|recipe)\.[\w.]+/m],
  ["verl", /(?:^|[\s"'/])verl\/(?:trainer|experimental|recipe)\/[\w/-]{1,200}\.py\b/m],
  ["openrlhf", /(?:^|[\s"'=])-m[ \t]+openrlhf\.cli\.train_\w+/m],
  ["openrlhf", /(?:^|[\s"'/])openrlhf\/cli\/train_\w+\.py\b/m],
  [
    "trl",
    /(?:^|[;&|(]|\b(?:run|exec|srun|uvx|env|time)\s)[ \t]*["']?(?:[\w./-]{0,200}\/)?trl[ \t]+(?:grpo|rloo|dpo|sft|kto|reward)\b/m,
  ],
  ["trl", /(?:^|[\s"'=])-m[ \t]+trl(?:\.scripts\.\w+|[ \t]+(?:grpo|rloo|dpo|sft|kto|reward)\b)/m],
  ["trl", /(?:^|[\s"'/])trl\/scripts\/\w+\.py\b/m],
];
const startedBy = (commands: string): Trainer | undefined =>
  starts.find(([, pattern]) => pattern.test(commands))?.[0];

const withoutComments = (text: string): string =>
  text
    .replace(/^[ \t]*#.*$/gm, "")
    .replace(/[ \t]#.*$/gm, "")
    .replace(/\\\r?\n/g, " ");

/** What is imported: `from trl import GRPOTrainer, GRPOConfig`, also over several lines. */
function inPython(text: string): Trainer | undefined {
  for (const [, root, rest = "", names = ""] of text.matchAll(
    /^[ \t]*from[ \t]+(trl|verl|openrlhf)((?:\.\w+)*)[ \t]+import[ \t]*(\([^)]{0,600}\)|[^\n]*)/gm,
  )) {
    if (root === "trl" && (/\w(?:Trainer|Config)\b/.test(names) || rest.startsWith(".trainer"))) return "trl";
    if (root === "verl" && /^\.(?:trainer|experimental|recipe)\b/.test(rest)) return "verl";
    if (root === "openrlhf" && /^\.(?:cli|trainer)\b/.test(rest)) return "openrlhf";
  }
  const module = /^[ \t]*import[ \t]+(trl|verl\.trainer|openrlhf\.(?:cli|trainer))\b/m.exec(text)?.[1];
  if (module === "trl") return /\btrl\.\w+(?:Trainer|Config)\s*\(/.test(text) ? "trl" : undefined;
  return module === undefined ? undefined : module.startsWith("verl") ? "verl" : "openrlhf";
}

/** By what its header or a command in it starts, else by sections that only one framework has together. */
function inYaml(text: string): Trainer | undefined {
  const header = /^(?:[ \t]*(?:#.*)?\r?\n)*/.exec(text)?.[0] ?? "";
  const started =
    startedBy(header.replace(/^[ \t]*#+[ \t]*[$>]?[ \t]*/gm, "")) ?? startedBy(withoutComments(text));
  if (started !== undefined) return started;
  const has = (key: string): boolean => new RegExp(`^${key}\\s*:`, "m").test(text);
  const isVerl = has("actor_rollout_ref") && ["data", "algorithm", "trainer", "defaults"].some(has);
  return isVerl ? "verl" : undefined;
}
