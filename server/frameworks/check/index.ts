/** Configurations of verl, TRL and OpenRLHF: read, and checked by their own rules. */
import type { Diagnostic } from "../../config/check/diagnostic.ts";
import { checkKeys } from "./keys.ts";
import { withoutRelease } from "./otherRelease.ts";
import { releaseDiagnostic } from "./release.ts";
import type { FrameworkDocument, Framework, Setting } from "../text/document.ts";
import { DocumentModel } from "../rules/model.ts";
import { hasTree } from "../releases/facts.ts";
import { openrlhfRules } from "../trainers/openrlhf/rules/index.ts";
import { fixesWithin, inCells } from "../text/notebook/diagnostics.ts";
import { parseConfig } from "../readers/index.ts";
import type { ParsedConfig } from "../readers/parsedConfig.ts";
import { referenced } from "../text/interpolation.ts";
import { isNotebook, pythonText } from "../../lib/notebook/notebook.ts";
import { mayBeFrameworkConfig } from "../readers/recognise.ts";
import { diagnosed } from "../rules/report.ts";
import type { FrameworkRule } from "../rules/rule.ts";
import { trlRules } from "../trainers/trl/rules/index.ts";
import { verlRules } from "../trainers/verl/rules/index.ts";
import { versionOf, type ReleaseHints } from "../releases/version.ts";

export type { FrameworkDocument, Framework, Setting } from "../text/document.ts";
export { keyRules } from "./keyRules.ts";
export { checkedAgainst, releaseText, type CheckedRelease } from "../rules/checkedRelease.ts";
export { geometryOf } from "../rules/geometry.ts";
export { DocumentModel } from "../rules/model.ts";

export const frameworkRules: readonly FrameworkRule[] = [...verlRules, ...trlRules, ...openrlhfRules];

/**
 * undefined if the text is not a configuration of the three. Content decides; `file` only determines the form. A notebook is
 * read as the module of its code cells.
 * @throws UserError where a notebook cannot be read
 */
export function readFrameworkDocument(
  file: string,
  given: string,
  surroundings: ReleaseHints = {},
): FrameworkDocument | undefined {
  if (!mayBeFrameworkConfig(given)) return undefined;
  const text = pythonText(file, given);
  const written = parseConfig(file, text);
  if (written === undefined) return undefined;
  const version = versionOf(written.framework, file, text, surroundings);
  const document: FrameworkDocument = {
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

/** Without a named tree the settings determine it. */
const treeOf = ({ framework, settings }: ParsedConfig): string => {
  if (framework !== "verl") return framework === "trl" ? "grpo" : "train_ppo_ray";
  const strategy = settings.find(({ key }) => key === "actor_rollout_ref.actor.strategy")?.value;
  return /^(megatron|veomni|torchtitan)$/.test(String(strategy))
    ? `ppo_${String(strategy)}_trainer`
    : "ppo_trainer";
};

/** Substitutes other keys' values in values, and records where those are set. */
function resolved(document: FrameworkDocument): readonly Setting[] {
  const holds = ({ value }: Setting): boolean => typeof value === "string" && value.includes("${");
  if (!document.settings.some(holds)) return document.settings;
  const model = new DocumentModel(document);
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

const holdsFor = ({ trees }: FrameworkRule, { framework, tree = "" }: FrameworkDocument): boolean =>
  trees?.includes(tree) ?? mains[framework].test(tree);

/** In the order of the text; of a notebook at the places of its cells. */
export function checkFrameworkDocument(document: FrameworkDocument): readonly Diagnostic[] {
  const found = checkText(document);
  return isNotebook(document.file) ? found.map((one) => inCells(document.text, one)) : found;
}

/** The same at the document's own text: of a notebook at the places of its module, with fixes that keep to cells. */
export function checkText(document: FrameworkDocument): readonly Diagnostic[] {
  const found = [...withoutRelease(document, diagnosticsOf(document), diagnosticsOf)].sort(
    ({ range: { start: a } }, { range: { start: b } }) => a.line - b.line || a.character - b.character,
  );
  return isNotebook(document.file)
    ? found.map((one) => ({ ...one, fixes: fixesWithin(document.text, one) }))
    : found;
}

/** By the document's release alone. */
function diagnosticsOf(document: FrameworkDocument): Diagnostic[] {
  const model = new DocumentModel(document);
  const own = (framework: Framework): readonly FrameworkRule[] =>
    frameworkRules.filter((rule) => rule.framework === framework && holdsFor(rule, document));
  const found = own(document.framework).flatMap((rule) =>
    rule.check(model).map((diagnostic) => diagnosed(diagnostic, rule, document)),
  );
  const all = [...checkKeys(model), ...found];
  const release = all.length === 0 ? undefined : releaseDiagnostic(model);
  return release === undefined ? all : [...all, diagnosed(release, release.rule, document)];
}
