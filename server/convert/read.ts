/** Whose configuration a text is, and its settings: YAML, a launch script, or a command line. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseDocument } from "yaml";
import { UserError, messageOf } from "../../shared/errors.ts";
import type { Json, JsonObject } from "../../shared/json.ts";
import { oldNames } from "../foreign/facts/openrlhfNames.ts";
import { frameworkNames } from "../foreign/names.ts";
import { readWritten } from "../foreign/readers/index.ts";
import { programOf } from "../foreign/readers/recognise.ts";
import type { Written as Launched } from "../foreign/readers/written.ts";
import { openrlhfDefaults } from "./openrlhfFlags.ts";
import { readScript, type Launch } from "./script.ts";
import { flat, isObject, pythonic, valueOf } from "../foreign/values.ts";
import type { Unmapped } from "./settings.ts";
import { trlDefaults } from "./trlDefaults.ts";
import { preferenceKeys } from "./trlPreference.ts";
import type { Peer, Written } from "./types.ts";

/** Keys that GRPOConfig, DPOConfig and TRL's script arguments have, and the other two do not. */
const trlKeys = new Set([
  ...Object.keys(trlDefaults).filter(
    (key) => !(key in oldNames) && key !== "num_processes" && !key.startsWith("adam_"),
  ),
  "model_name_or_path",
  "dataset_name",
  "reward_funcs",
  "reward_weights",
  ...preferenceKeys,
  "epsilon_high",
  "delta",
  "off_policy_mask_threshold",
  "vllm_mode",
  "generation_batch_size",
  "steps_per_generation",
  "output_dir",
]);

/** Programs that practise with rewards, and TRL's DPO. */
const converted = /^(grpo|dpo|train_ppo_ray|(\w+_)?ppo_(\w+_)?trainer)$/;

/** @throws UserError where the text is no configuration of verl, TRL or OpenRLHF, or one of a program without a counterpart */
export function readForeign(file: string, text: string, asked?: Peer): Written {
  const known = readWritten(file, text);
  if (known?.tree !== undefined && asked === undefined && !converted.test(known.tree))
    throw new UserError(
      `this configures \`${known.tree}\` of ${frameworkNames[known.framework]}, which convert does not read`,
      {
        file,
        code: "unknown-program",
        action:
          "It reads PPO and GRPO of verl, GRPO and DPO of TRL, and PPO of OpenRLHF: write other stages by hand.",
      },
    );
  if (known?.form === "python") return fromPython(known);
  const tree = /\.(sh|bash)$/.test(file) ? undefined : treeOf(file, text);
  const settings = tree === undefined ? undefined : new Map(flat(resolved(tree)));
  const peer = settings === undefined ? undefined : (asked ?? peerOf([...settings.keys()]));
  const written =
    settings !== undefined && (peer !== undefined || /\.(ya?ml|json)$/.test(file))
      ? { peer, settings: renamed(settings), lost: [] }
      : fromScript(file, text, asked);
  if (written?.peer !== undefined) return { ...written, peer: written.peer };
  throw new UserError("this is no configuration of verl, TRL or OpenRLHF that Gradus knows", {
    file,
    code: "unknown-config",
    action:
      "Give a verl Hydra file or launch script, a GRPOConfig or DPOConfig in YAML or Python, or an OpenRLHF command line; `--from verl|trl|openrlhf` says whose it is.",
  });
}

/** The keywords of `GRPOConfig(…)`; what only the running script knows is lost. */
function fromPython({ settings }: Pick<Launched, "settings">): Written {
  const told = settings.flatMap(({ key, value }) => (value === undefined ? [] : [[key, value] as const]));
  const lost = settings
    .filter(({ value }) => value === undefined)
    .map(({ key, text }) => ({ key, value: text, reason: "worked out while the script runs" }));
  return { peer: "trl", settings: new Map(told), lost };
}

function treeOf(file: string, text: string): JsonObject | undefined {
  const document = parseDocument(text, { logLevel: "silent", uniqueKeys: false });
  if (document.errors.length > 0) {
    const [first] = document.errors;
    if (/\.(ya?ml|json)$/.test(file))
      throw new UserError(`not YAML: ${messageOf(first).split("\n")[0]}`, {
        file,
        line: (first?.linePos?.[0].line ?? 1) - 1,
        character: (first?.linePos?.[0].col ?? 1) - 1,
        code: "syntax",
        action: "Mend the file, or name a launch script with the ending .sh.",
      });
    return undefined;
  }
  const value = pythonic(document.toJS({ maxAliasCount: 100 }));
  return isObject(value) ? value : undefined;
}

function peerOf(keys: readonly string[]): Peer | undefined {
  if (keys.some((key) => /^(actor_rollout_ref|algorithm)\./.test(key))) return "verl";
  const old = keys.filter((key) => key in oldNames || isDotted(key)).length;
  const trl = keys.filter((key) => trlKeys.has(key)).length;
  return old === 0 && trl === 0 ? undefined : trl >= old ? "trl" : "openrlhf";
}

/** A flag of OpenRLHF since 0.10, and nothing of verl's. */
const isDotted = (key: string): boolean =>
  (key in openrlhfDefaults && !key.startsWith("data.")) ||
  /^(algo|actor|ds|vllm|ckpt|logger|rollout|train|eval)\./.test(key);

const renamed = (settings: ReadonlyMap<string, Json>): Map<string, Json> =>
  new Map([...settings].filter(([key]) => !key.endsWith("_target_") && !/^defaults(\.|$)/.test(key)));

/** `${a.b}` of the same file; `${oc.env:X,default}` and `${oc.select:a.b,default}`. What cannot be found is null. */
function resolved(tree: JsonObject): JsonObject {
  const all = new Map(flat(tree));
  const one = (value: Json, depth: number): Json => {
    if (Array.isArray(value)) return value.map((item) => one(item, depth));
    if (isObject(value))
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, one(item, depth)]));
    if (typeof value !== "string" || !value.includes("${") || depth > 8) return value;
    const whole = /^\$\{([^{}]*)\}$/.exec(value);
    if (whole !== null) return lookUp(whole[1]!, depth);
    return value.replace(/\$\{([^{}]*)\}/g, (_, name: string) => String(lookUp(name, depth) ?? ""));
  };
  const lookUp = (name: string, depth: number): Json => {
    const resolver = /^oc\.(env|select):\s*([^,]*)(?:,\s*(.*))?$/.exec(name);
    if (resolver?.[1] === "env") return resolver[3] === undefined ? `$${resolver[2]}` : valueOf(resolver[3]);
    const found = all.get((resolver?.[2] ?? name).trim());
    return found === undefined
      ? resolver?.[3] === undefined
        ? null
        : valueOf(resolver[3])
      : one(found, depth + 1);
  };
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, one(value, 0)]));
}

interface Found {
  readonly peer: Peer | undefined;
  readonly settings: ReadonlyMap<string, Json>;
  readonly lost: readonly Unmapped[];
}

/** The last command of the script that trains. */
function fromScript(file: string, text: string, asked: Peer | undefined): Found | undefined {
  const script = readScript(text);
  const found = together(script.launches)
    .map((launch) => launched(launch, file, asked))
    .filter((one) => one?.peer !== undefined)
    .at(-1);
  if (found === undefined) return undefined;
  const used = JSON.stringify([...found.settings]);
  const unset = script.unset
    .filter((name) => used.includes(`$${name}`))
    .map((name) => ({ key: `$${name}`, value: null, reason: "the script does not set this variable" }));
  return { ...found, lost: [...found.lost, ...unset] };
}

/** Settings that stand on lines of their own, without a program, are one launch. */
function together(launches: readonly Launch[]): Launch[] {
  const loose = launches.filter(({ words: [first = ""] }) =>
    /^(--[A-Za-z]|[+~]{0,2}[A-Za-z_]\w*\.[\w.@/-]*=)/.test(first),
  );
  const [first] = loose;
  if (first === undefined) return [...launches];
  const rest = launches.filter((launch) => !loose.includes(launch));
  return [{ line: first.line, words: loose.flatMap(({ words }) => words) }, ...rest];
}

function launched({ words }: Launch, file: string, asked: Peer | undefined): Found | undefined {
  const hydra = words.filter((word) => /^[+~]{0,2}[A-Za-z_][\w.@/-]*=/.test(word) && !word.startsWith("--"));
  const flags = apartFromLauncher(words);
  const overrides = hydra.filter((word) => /^[+~]*(actor_rollout_ref|algorithm)\./.test(word));
  if ((asked ?? "verl") === "verl" && (overrides.length > 0 || (asked === "verl" && hydra.length > 0)))
    return fromHydra(words, hydra, file);
  const launcher = words.findLastIndex((word) => /openrlhf\S*train_ppo|^train_ppo\w*\.py$/.test(word));
  // What stands before the program's name are flags of what launches it (ray, deepspeed).
  if (launcher >= 0 || asked === "openrlhf")
    return { peer: "openrlhf", settings: modern(flagsOf(words.slice(launcher + 1))), lost: [] };
  const keys = [...flags.keys()];
  const config = flags.get("config");
  if (words.some((word) => /^trl$|grpo|dpo/.test(word)) && typeof config === "string") {
    const path = join(dirname(file), config);
    const tree = existsSync(path) ? treeOf(path, readFileSync(path, "utf8")) : undefined;
    const rest = [...flags].filter(([key]) => key !== "config");
    return { peer: "trl", settings: new Map([...(tree === undefined ? [] : flat(tree)), ...rest]), lost: [] };
  }
  const peer = asked ?? (keys.length > 1 ? peerOf(keys) : undefined);
  return peer === undefined || peer === "verl"
    ? undefined
    : { peer, settings: peer === "openrlhf" ? modern(flags) : flags, lost: [] };
}

/** What stands before the program's name are a launcher's options, which its last one must not take in. */
function apartFromLauncher(words: readonly string[]): Map<string, Json> {
  const at = programOf(words)?.at ?? -1;
  return new Map([...flagsOf(words.slice(0, Math.max(at, 0))), ...flagsOf(words.slice(at + 1))]);
}

function fromHydra(words: readonly string[], overrides: readonly string[], file: string): Found {
  const named = flagsOf(words);
  const name =
    words.map((word) => /^--config-name=(.*)$/.exec(word)?.[1]).find((value) => value !== undefined) ??
    named.get("config-name");
  const folder =
    words.map((word) => /^--config-path=(.*)$/.exec(word)?.[1]).find((value) => value !== undefined) ??
    named.get("config-path");
  const base = typeof name === "string" ? baseOf(file, String(folder ?? "."), name) : undefined;
  for (const word of words.filter((one) => /^~[A-Za-z_]/.test(one)))
    base?.delete(word.slice(1).split("=")[0]!);
  const own = overrides
    .filter((word) => !word.startsWith("~"))
    .map((word): [string, Json] => {
      const text = word.replace(/^\++/, "");
      const at = text.indexOf("=");
      return [text.slice(0, at), valueOf(text.slice(at + 1))];
    });
  const lost =
    typeof name === "string" && base === undefined && !/^ppo_(megatron_)?trainer(\.yaml)?$/.test(name)
      ? [
          {
            key: "--config-name",
            value: name,
            reason: "this file was not found beside the script: what it sets is not converted",
          },
        ]
      : [];
  const flattened = own.flatMap(([key, value]): [string, Json][] =>
    isObject(value) ? flat(value, `${key}.`) : [[key, value]],
  );
  return { peer: "verl", settings: renamed(new Map([...(base ?? []), ...flattened])), lost };
}

function baseOf(file: string, folder: string, name: string): Map<string, Json> | undefined {
  const path = join(dirname(file), folder, name.endsWith(".yaml") ? name : `${name}.yaml`);
  const tree = existsSync(path) ? treeOf(path, readFileSync(path, "utf8")) : undefined;
  return tree === undefined ? undefined : new Map(flat(resolved(tree)));
}

/** `--key value…`, `--key=value` and `--switch`. */
export function flagsOf(words: readonly string[]): Map<string, Json> {
  const found = new Map<string, Json>();
  for (let at = 0; at < words.length; at++) {
    const match = /^--([A-Za-z][\w.-]*)(?:=([\s\S]*))?$/.exec(words[at]!);
    if (match === null) continue;
    const key = match[1]!;
    if (match[2] !== undefined) {
      found.set(key, valueOf(match[2]));
      continue;
    }
    const values: Json[] = [];
    while (at + 1 < words.length && !/^--/.test(words[at + 1]!)) values.push(valueOf(words[++at]!));
    found.set(key, values.length === 0 ? true : values.length === 1 ? values[0]! : values);
  }
  return found;
}

/** Flags of OpenRLHF before 0.10 under their present names. */
const modern = (flags: ReadonlyMap<string, Json>): Map<string, Json> =>
  new Map([...flags].map(([key, value]) => [oldNames[key] ?? key, value]));
