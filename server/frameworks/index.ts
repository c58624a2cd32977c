/** Configurations of verl, TRL and OpenRLHF: read, and checked by their own rules. */
import type { Diagnostic } from "../config/check/diagnostic.ts";
import { checkKeys } from "./check/keys.ts";
import { withoutRelease } from "./otherRelease.ts";
import { releaseFinding } from "./check/release.ts";
import type { ForeignDocument, Framework, Setting } from "./document.ts";
import { Model } from "./model.ts";
import { hasTree } from "./facts.ts";
import { openrlhfRules } from "./openrlhf/rules/index.ts";
import { readWritten } from "./readers/index.ts";
import type { Written } from "./readers/written.ts";
import { referenced } from "./interpolation.ts";
import { diagnosed } from "./report.ts";
import type { ForeignRule } from "./rule.ts";
import { trlRules } from "./trl/rules/index.ts";
import { verlRules } from "./verl/rules/index.ts";
import { versionOf, type Surroundings } from "./version.ts";

export type { ForeignDocument, Framework, Setting } from "./document.ts";
export { foreignCompletions } from "./assist/completion.ts";
export { foreignHover } from "./assist/hover.ts";
export { keyRules } from "./check/finding.ts";
export { judgedBy, releaseText, type JudgedBy } from "./check/release.ts";
export { geometryOf } from "./geometry.ts";
export { Model } from "./model.ts";

export const foreignRules: readonly ForeignRule[] = [...verlRules, ...trlRules, ...openrlhfRules];

/** undefined where a text is no configuration of the three. Recognised by content; `file` only tells the form. */
export function readForeignDocument(
  file: string,
  text: string,
  surroundings: Surroundings = {},
): ForeignDocument | undefined {
  const written = readWritten(file, text);
  if (written === undefined) return undefined;
  const version = versionOf(written.framework, file, text, surroundings);
  const document: ForeignDocument = {
    ...written,
    file,
    text,
    version,
    program: written.program,
    tree: written.tree ?? treeOf(written),
    processes: written.processes,
  };
  const known = document.tree === undefined || hasTree(written.framework, version, document.tree);
  const whole = known ? document : { ...document, incomplete: true };
  return { ...whole, settings: resolved(whole) };
}

/** Nothing names a tree: what is written does. */
const treeOf = ({ framework, settings }: Written): string => {
  if (framework !== "verl") return framework === "trl" ? "grpo" : "train_ppo_ray";
  const strategy = settings.find(({ key }) => key === "actor_rollout_ref.actor.strategy")?.value;
  return /^(megatron|veomni|torchtitan)$/.test(String(strategy))
    ? `ppo_${String(strategy)}_trainer`
    : "ppo_trainer";
};

/** Values with other keys' put in, and where those stand. */
function resolved(document: ForeignDocument): readonly Setting[] {
  const holds = ({ value }: Setting): boolean => typeof value === "string" && value.includes("${");
  if (!document.settings.some(holds)) return document.settings;
  const model = new Model(document);
  return document.settings.map((setting) => {
    if (!holds(setting)) return setting;
    const name = referenced(setting.value, setting.key);
    const target = name === undefined ? undefined : model.written(name);
    const source = target === undefined ? setting.source : (target.source ?? target.range);
    return { ...setting, value: model.resolved(setting), ...(source === undefined ? {} : { source }) };
  });
}

/** Trees of the trainers that most rules are about. */
const mains: Readonly<Record<Framework, RegExp>> = {
  verl: /ppo_/,
  trl: /^grpo$/,
  openrlhf: /^train_ppo_ray$/,
};

const holdsFor = ({ trees }: ForeignRule, { framework, tree = "" }: ForeignDocument): boolean =>
  trees?.includes(tree) ?? mains[framework].test(tree);

/** In the order of the text. */
export function checkForeign(document: ForeignDocument): readonly Diagnostic[] {
  return [...withoutRelease(document, judged(document), judged)].sort(
    ({ range: { start: a } }, { range: { start: b } }) => a.line - b.line || a.character - b.character,
  );
}

/** By the document's release alone. */
function judged(document: ForeignDocument): Diagnostic[] {
  const model = new Model(document);
  const own = (framework: Framework): readonly ForeignRule[] =>
    foreignRules.filter((rule) => rule.framework === framework && holdsFor(rule, document));
  const found = own(document.framework).flatMap((rule) =>
    rule.check(model).map((finding) => diagnosed(finding, rule, document)),
  );
  const all = [...checkKeys(model), ...found];
  const release = all.length === 0 ? undefined : releaseFinding(model);
  return release === undefined ? all : [...all, diagnosed(release, release.rule, document)];
}
