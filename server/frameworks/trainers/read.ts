/** A configuration as dotted settings with their values, and what reading it lost. */
import { trainers, trainersThat } from "../../../shared/run/trainers.ts";
import { resolve } from "node:path";
import { parseDocument } from "yaml";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import type { Json } from "../../../shared/lib/json.ts";
import type { FrameworkRelease, Setting } from "../text/document.ts";
import { oldNames } from "../releases/facts/openrlhfNames.ts";
import { standsForTooMuch } from "../text/composed.ts";
import { settingsInForce } from "../text/inForce.ts";
import { interpolated } from "../text/interpolation.ts";
import { smallText } from "../text/fileReader.ts";
import { parseConfig } from "../readers/index.ts";
import { placeOfFile } from "../readers/verlFiles.ts";
import { versionOf } from "../releases/version.ts";
import { isVerlTrainer } from "../readers/recognise.ts";
import type { ParsedConfig } from "../readers/parsedConfig.ts";
import { flat } from "../text/values.ts";
import { otherTrainer, whatIsDone } from "../readers/otherTrainer.ts";
import { readTrlScript, type TrlScript } from "../readers/trl/trlScript.ts";
import { isOnlyConverted, parseOnlyConverted } from "../readers/onlyConverted.ts";
import { isPrimeRl, primeRlSettings, tomlOf } from "../readers/primeRl.ts";
import { ownerByKeys } from "./owner.ts";
import type { Unmapped } from "../lens/settings.ts";
import type { ConvertedFrom, FrameworkSettings } from "../lens/types.ts";

/** Programs that practise with rewards, and TRL's DPO. */
const converted = /^(grpo|dpo|train_ppo_ray|(\w+_)?ppo_(\w+_)?trainer)$/;

/** Of `convert` alone. */
export const orFrom = `; \`--from ${trainersThat("converted").join("|")}\` names its framework.`;

/** @throws UserError if the text is no configuration that is converted, or is one of a program without a counterpart */
export function readFramework(file: string, text: string, asked?: ConvertedFrom): FrameworkSettings {
  const toml = primeRlIn(file, text, asked === "prime-rl");
  if (toml !== undefined) return toml;
  if (asked === "prime-rl") throw unrecognised(file);
  refuseBroken(file, text);
  const only = parseOnlyConverted(file, text, asked);
  if (only !== undefined) return withoutTables(settingsOf(file, text, only.parsed), only.framework);
  if (isOnlyConverted(asked)) throw unrecognised(file);
  if (/\.(ya?ml|json)$/.test(file)) refuseOther(file, text);
  const written =
    asked === undefined
      ? (parseConfig(file, text) ?? parseConfig(file, text, ownerByKeys))
      : parseConfig(file, text, () => asked);
  if (written === undefined) {
    refuseOther(file, text);
    throw unrecognised(file);
  }
  if (asked === undefined && written.tree !== undefined && !converted.test(written.tree))
    throw new UserError(
      `this configures \`${written.tree}\` of ${trainers[written.framework].name}, which convert does not read`,
      {
        file,
        code: "unknown-program",
        action:
          "It reads PPO and GRPO of verl, GRPO and DPO of TRL, and PPO of OpenRLHF: write other stages by hand.",
      },
    );
  return settingsOf(file, text, written);
}

/** Settings that were read by verl's rules, of a trainer that has releases of its own. */
function withoutTables(
  { version: _version, release: _release, tree: _tree, ...settings }: FrameworkSettings,
  framework: ConvertedFrom,
): FrameworkSettings {
  return { ...settings, framework };
}

/** Of TOML no other trainer has a configuration here. @param asked it is known to be prime-rl's */
function primeRlIn(file: string, text: string, asked: boolean): FrameworkSettings | undefined {
  if (!asked && !file.endsWith(".toml")) return undefined;
  const tree = tomlOf(file, text);
  if (!asked && !isPrimeRl(tree)) return undefined;
  const start = { line: 0, character: 0 };
  return {
    framework: "prime-rl",
    settings: primeRlSettings(tree),
    lost: [],
    places: new Map(),
    head: { start, end: start },
  };
}

const unrecognised = (file: string): UserError =>
  new UserError(
    "this is not a configuration of verl, TRL, OpenRLHF, SkyRL or prime-rl that Gradus recognises",
    {
      file,
      code: "unknown-config",
      action:
        "Give a verl Hydra file or launch script, a GRPOConfig or DPOConfig in YAML or Python, an OpenRLHF command line, settings of SkyRL, or rl.toml of prime-rl" +
        orFrom,
    },
  );

/** A YAML file with a mistake would be read in part, and the rest silently lost. */
function refuseBroken(file: string, text: string): void {
  if (!/\.(ya?ml|json)$/.test(file)) return;
  const document = parseDocument(text, { logLevel: "silent", uniqueKeys: false });
  if (standsForTooMuch(document))
    throw new UserError("its aliases expand to too many values: anchors that hold aliases multiply", {
      file,
      code: "syntax",
      action: "Write the values out.",
    });
  const [first] = document.errors;
  if (first === undefined) return;
  throw new UserError(`not YAML: ${messageOf(first).split("\n")[0]}`, {
    file,
    line: (first.linePos?.[0].line ?? 1) - 1,
    character: (first.linePos?.[0].col ?? 1) - 1,
    code: "syntax",
    action: "Fix the file, or name a launch script that ends in .sh.",
  });
}

/** Another trainer's YAML shares words with the three: none of it would be what it says. */
function refuseOther(file: string, text: string): void {
  const other = otherTrainer(file, text);
  if (other === undefined) return;
  throw new UserError(`this is a ${other.form} of ${other.name}, ${whatIsDone(other)}`, {
    file,
    code: "unknown-config",
    action: "It reads those of verl, TRL and OpenRLHF: write a config by hand, e.g. from `gradus init`.",
  });
}

/** What the files that it builds on set, then what it sets itself; other keys' values put in. */
function settingsOf(file: string, text: string, written: ParsedConfig): FrameworkSettings {
  const { framework, form } = written;
  const base = new Map(written.base);
  for (const { key, sign } of written.settings) if (sign === "~") base.delete(key);
  const own = settingsInForce(written.settings);
  const raw = (key: string): Json | undefined => {
    const value = valueOf(own.get(key));
    return value === undefined ? base.get(key) : value;
  };
  const unknown = [...own.values()].filter((setting) => valueOf(setting) === undefined);
  const keys = [...new Set([...base.keys(), ...own.keys()])].filter(
    (key) => raw(key) !== undefined && !key.endsWith("_target_"),
  );
  const settings = new Map(
    keys.flatMap((key): [string, Json][] => {
      const value = filledIn(raw(key), (one) => interpolated(one, key, raw, environment)) ?? null;
      const name = framework === "openrlhf" ? (oldNames[key] ?? key) : key;
      return form === "python" ? [[name, value]] : flat({ [name]: value });
    }),
  );
  // A launcher's option: TRL's own flags do not say how many processes train.
  if (framework === "trl" && written.processes?.value !== undefined)
    settings.set("num_processes", written.processes.value);
  const lost = unknown.map(({ key, text }) => ({
    key,
    value: text,
    reason: "computed while the script runs",
  }));
  const places = new Map(
    written.settings.map(({ key, range }) => [
      framework === "openrlhf" ? (oldNames[key] ?? key) : key,
      range,
    ]),
  );
  const here = form === "python" ? readTrlScript(file, text, written.tree) : undefined;
  for (const [key, { range }] of here?.settings ?? []) places.set(key, range);
  if (here?.rowsBuilder !== undefined) places.set("train_dataset", here.rowsBuilder.range);
  if (here?.rewardsAt !== undefined) places.set("reward_funcs", here.rewardsAt);
  const script = here ?? startedScript(file, written);
  const version = versionOf(framework, resolve(file), text);
  for (const [key, { value }] of script?.settings ?? [])
    if (here !== undefined || !settings.has(key)) settings.set(key, value);
  return {
    framework,
    settings,
    lost: [...lost, ...missing(written), ...unset(written, settings), ...partly(script, settings)],
    ...(script?.rewards === undefined ? {} : { rewards: script.rewards }),
    rowsBuilder: script?.rowsBuilder,
    ...(script?.columns === undefined ? {} : { columns: script.columns }),
    version,
    tree: written.tree,
    release: runsWith(written, version),
    places,
    head: written.head,
  };
}

/** Other programs than verl's own read its keys in their own ways. */
const runsWith = (
  { framework, program }: ParsedConfig,
  { from, text }: FrameworkRelease,
): string | undefined =>
  framework === "verl" && isVerlTrainer(program) && from !== "newest" ? text : undefined;

/** Items of a list one by one. */
const filledIn = (value: Json | undefined, fill: (one: Json | undefined) => Json | undefined) =>
  Array.isArray(value) ? value.map((one: Json) => fill(one) ?? null) : fill(value);

/** The user's own script that a launch starts, if it is near: what its trainer is given that no flag says. */
function startedScript(
  file: string,
  { framework, form, program, tree }: ParsedConfig,
): TrlScript | undefined {
  if (framework !== "trl" || form !== "script" || program?.endsWith(".py") !== true) return undefined;
  const place = placeOfFile(resolve(file), program);
  const text = place === undefined ? undefined : smallText(place);
  return place === undefined || text === undefined
    ? undefined
    : readTrlScript(place, text, tree, resolve(file));
}

const partly = (script: TrlScript | undefined, settings: ReadonlyMap<string, Json>): Unmapped[] =>
  (script?.partly ?? []).map(({ key, reason }) => ({ key, value: settings.get(key) ?? null, reason }));

const valueOf = (setting: Setting | undefined): Json | undefined =>
  setting?.value === undefined ? setting?.partial : setting.value;

/** Its value where the run starts is unknown: its default, else its name. */
const environment = (name: string, fallback: Json | undefined): Json => fallback ?? `$${name}`;

const missing = ({ form, missing: name }: ParsedConfig): Unmapped[] =>
  name === undefined
    ? []
    : [
        {
          key: form === "script" ? "--config-name" : "defaults",
          value: name,
          reason: "this file was not found: what it sets is not converted",
        },
      ];

function unset({ unset }: ParsedConfig, settings: ReadonlyMap<string, Json>): Unmapped[] {
  const used = JSON.stringify([...settings.values()]);
  return unset
    .filter(({ name }) => used.includes(`$${name}`))
    .map(({ name }) => ({ key: `$${name}`, value: null, reason: "the script does not set this variable" }));
}
