/** The defaults of unset keys in the release that a file runs with, which `validate` checks it against. */
import { trainers } from "../../../shared/run/trainers.ts";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { releaseText } from "../rules/checkedRelease.ts";
import type { Framework, FrameworkRelease } from "../text/document.ts";
import { factsFor, hasTree } from "../releases/facts.ts";
import { earlierNames } from "../releases/facts/moves.ts";
import type { KeyTable } from "../releases/load.ts";

/** Keys of earlier releases that decide a number and have no default in the newest. */
const earlierKeys: Readonly<Record<Framework, readonly string[]>> = {
  verl: [],
  trl: ["vllm_importance_sampling_cap"],
  openrlhf: ["rollout.max_new_tokens", "data.prompt_max_len"],
};

/** What releases did that did not have the key yet, where that is not what the newest does by default. */
const beforeKeys: Readonly<Record<string, Json>> = { vllm_importance_sampling_mode: "token_truncate" };

export interface ReleaseDefaults {
  /** `TRL 1.2.0`, with how it is known where the file does not say it. */
  readonly release: string;
  readonly defaults: JsonObject;
}

/** @param newest the newest release's defaults, of the keys that conversion reads */
export function releaseDefaults(
  framework: Framework,
  version: FrameworkRelease,
  newest: JsonObject,
  tree: string | undefined,
): ReleaseDefaults {
  const known = tree !== undefined && hasTree(framework, version, tree) ? tree : undefined;
  const facts = factsFor(framework, version, known);
  const keys = [...Object.keys(newest), ...earlierKeys[framework]];
  const defaults = keys.flatMap((key): [string, Json][] => {
    const value = defaultOf(framework, facts, key, newest[key]);
    return value === undefined ? [] : [[key, value]];
  });
  const table = facts.version === version.text ? {} : { table: facts.version };
  const { text, from } = version;
  const checked = { framework: trainers[framework].name, version: text, from, ...table };
  return { release: releaseText(checked), defaults: Object.fromEntries(defaults) };
}

function defaultOf(
  framework: Framework,
  facts: KeyTable,
  key: string,
  newest: Json | undefined,
): Json | undefined {
  const fact = [key, ...earlierNames(framework, key)]
    .map((name) => facts.get(name))
    .find((one) => one !== undefined);
  // A switch that a release does not have is off.
  if (fact === undefined) return newest === true ? false : (beforeKeys[key] ?? newest);
  const value = fact.default;
  return value === undefined || value === null || isReference(value) ? newest : value;
}

/** Another key's value, which that key's own default is. */
const isReference = (value: Json): boolean => typeof value === "string" && value.includes("${");
