/** Keys of another engine's tree: one word of the launch is missing, and every line of that engine is refused for it. */
import type { Fix } from "../../config/check/diagnostic.ts";
import { replace } from "../../config/check/report.ts";
import type { Setting } from "../text/document.ts";
import { factsFor, hasTree } from "../releases/facts.ts";
import type { DocumentModel } from "../rules/model.ts";
import { treeOfEngine } from "../readers/base.ts";
import { setTo } from "../trainers/verl/fixes.ts";
import { unknownKey, type KeyDiagnostic } from "./keyRules.ts";

const engines = ["megatron", "veomni", "torchtitan"];
/** The config group, and the key of the actor that is confused with it. */
const group = "model_engine";
const misplaced = /\.model_engine$/;

interface EngineKeys {
  readonly diagnostic: KeyDiagnostic;
  /** The settings of the diagnostic: their keys get no other. */
  readonly settings: ReadonlySet<Setting>;
}

/** undefined if the launch chooses an engine, or no key belongs to another engine. */
export function engineKeys(model: DocumentModel): EngineKeys | undefined {
  const { document, facts } = model;
  const { form, incomplete, settings, tree, version } = document;
  if (form !== "script" || incomplete || tree !== "ppo_trainer" || model.written(group) !== undefined)
    return undefined;
  for (const engine of engines.filter((one) => hasTree("verl", version, treeOfEngine(one)))) {
    const theirs = factsFor("verl", version, treeOfEngine(engine));
    const knows = (key: string): boolean => theirs.has(key) || theirs.sections.has(sectionAbove(key, engine));
    const lost = settings.filter(
      ({ key, sign }) =>
        sign !== "~" &&
        !facts.has(key) &&
        key.includes(`.${engine}.`) &&
        !facts.sections.has(key) &&
        knows(key),
    );
    const [first] = lost;
    if (first !== undefined)
      return engineDiagnostic(model, engine, first, [
        ...lost,
        ...settings.filter(({ key }) => misplaced.test(key)),
      ]);
  }
  return undefined;
}

/** `actor_rollout_ref.actor.megatron` of any key below it. */
const sectionAbove = (key: string, engine: string): string =>
  key.slice(0, key.indexOf(`.${engine}.`) + engine.length + 1);

function engineDiagnostic(
  model: DocumentModel,
  engine: string,
  first: Setting,
  all: readonly Setting[],
): EngineKeys {
  const wrong = all.find(({ key, value }) => misplaced.test(key) && value === engine);
  const refused = all.length === 1 ? "it" : `all ${all.length} keys`;
  const instead =
    wrong === undefined
      ? `\`${group}=${engine}\` chooses it.`
      : `\`${group}=${engine}\` chooses it; it is not a key of the actor.`;
  const fixes = wrong === undefined ? added(model, engine) : [renamed(wrong)];
  return {
    settings: new Set(all),
    diagnostic: {
      rule: unknownKey,
      at: wrong ?? first,
      message: `\`${sectionAbove(first.key, engine)}\` belongs to the tree of ${engine}, which this launch does not choose, so Hydra refuses ${refused}. ${instead}`,
      related: all.filter((one) => one !== (wrong ?? first)),
      fixes,
    },
  };
}

function added(model: DocumentModel, engine: string): Fix[] {
  const fix = setTo(model, group, engine);
  return fix === undefined ? [] : [fix];
}

function renamed({ keyRange, sign }: Setting): Fix {
  const start = { line: keyRange.start.line, character: keyRange.start.character - sign.length };
  return replace({ start, end: keyRange.end }, group, `Change to \`${group}\``);
}
