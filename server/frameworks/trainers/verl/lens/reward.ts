/** verl's rewards: the project's own function, or verl's by the data's source. */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import { valuesOf } from "../../../readers/dataFiles.ts";
import { newName, unreadSince } from "../oldRewardKeys.ts";
import { versionOf } from "../../../releases/version.ts";
import { fields, type ConfigDraft } from "../../../lens/configDraft.ts";
import { dataNamed, pythonUse } from "../../../lens/paths.ts";
import type { Settings } from "../../../lens/settings.ts";

const [now, old] = ["reward.custom_reward_function", "custom_reward_function"] as const;

/** Whether the release is known to pass over the old sections. */
const passesOver = (settings: Settings): boolean => settings.comparedWith(unreadSince) >= 0;

/** The sections of one's own function that the release reads, the one that wins first. */
function sectionsOf(settings: Settings): readonly string[] {
  if (passesOver(settings)) return [now];
  return settings.comparedWith(unreadSince) < 0 ? [old, now] : [now, old];
}

export function rewards(settings: Settings, draft: ConfigDraft): void {
  const keys = settings.list("algorithm.gdpo_reward_keys")?.map(String);
  const weights = settings.list("algorithm.gdpo_reward_weights")?.map(Number);
  const gdpo = settings.peek("algorithm.adv_estimator") === "gdpo";
  const own = ownFunction(settings);
  const taken = own === undefined ? bySource(settings) : undefined;
  say(settings, taken);
  const names = gdpo && keys !== undefined ? keys : ["score"];
  if (gdpo && own !== undefined)
    settings.refuse(
      "algorithm.gdpo_reward_keys",
      "in verl one function returns all parts; in Gradus each term calls its own function",
    );
  const terms = names.map((term, i): [string, JsonObject] => [
    term,
    { ...(own ?? taken?.use), ...fields({ weight: weights?.[i] }) },
  ]);
  draft.set("reward", { terms: { ...Object.fromEntries(terms), ...overlong(settings) } });
}

/** The term of `custom_reward_function`, with what verl hands it at every call. */
function ownFunction(settings: Settings): JsonObject | undefined {
  const [first] = sectionsOf(settings).flatMap((section) => {
    const path = settings.text(`${section}.path`);
    const name = settings.text(`${section}.name`) ?? "compute_score";
    const args = settings.below(`${section}.reward_kwargs`);
    return path === undefined || path === ""
      ? []
      : [{ use: pythonUse(settings.file, path, name), ...fields({ args }) }];
  });
  return first;
}

/** One line: of a function that the release passes over it says what trains in its place. */
function say(settings: Settings, taken: Taken | undefined): void {
  const unread = passesOver(settings) ? settings.text(`${old}.path`) : undefined;
  const trains = taken?.reason ?? `the run trains on ${settings.text(`${now}.path`) ?? ""}`;
  const isBoth = taken === undefined && unread === settings.text(`${now}.path`);
  const [key, reason] =
    unread === undefined || unread === "" || isBoth
      ? [`${now}.path`, taken?.reason]
      : [
          `${old}.path`,
          `left out, because verl ${settings.release ?? ""} never reads it: ${trains}. To train on it write \`${now}.path\``,
        ];
  if (reason === undefined) return;
  const value = key === `${old}.path` ? unread : null;
  if (taken?.isPlaceholder === true) settings.replaceReward(key, reason, value);
  else settings.refuse(key, reason, value);
}

/** Why a setting of the old sections has no counterpart, where the release passes over them. */
export const unreadReason = (key: string, settings: Settings): string | undefined => {
  const read = passesOver(settings) ? newName(key) : undefined;
  return read === undefined ? undefined : `verl ${settings.release ?? ""} never reads it: use \`${read}\``;
};

/** verl's `default_compute_score`: sources, and the file with their `compute_score`. Each loads without verl's package. */
const scorers: readonly (readonly [RegExp, string])[] = [
  [/^openai\/gsm8k$/, "gsm8k.py"],
  [/^(lighteval\/MATH|DigitalLearningGmbH\/MATH-lighteval|HuggingFaceH4\/MATH-500)$/, "math_reward.py"],
  [/^(math_dapo|math|math_dapo_reasoning|aime.*)$/, "math_dapo.py"],
  [/^hiyouga\/geometry3k$/, "geo3k.py"],
  [/^searchR1_/, "search_r1_like_qa_em.py"],
];
/** Why none of the built-in terms is the same. */
const differs: Readonly<Record<string, string>> = {
  "gsm8k.py":
    ", which compares the last `#### NUMBER` of the last 300 characters with `ground_truth` as a text (`numeric` takes the last number wherever it is)",
};

interface Taken {
  readonly use: JsonObject;
  /** What verl scores with. */
  readonly reason: string;
  readonly isPlaceholder: boolean;
}

const placeholder = (reason: string): Taken => ({ use: { use: "exact_match" }, reason, isPlaceholder: true });

/** The files of an installed verl score as verl does; without them a placeholder remains, and why. */
function bySource(settings: Settings): Taken {
  const sources = sourcesOf(settings);
  const [source] = sources;
  if (source === undefined || sources.length > 1) {
    const which = sources.length > 1 ? ` (here ${sources.join(", ")})` : "";
    return placeholder(
      `verl scores by the data's source${which}; \`exact_match\` is a placeholder: write the term that fits`,
    );
  }
  const name = scorers.find(([pattern]) => pattern.test(source))?.[1];
  const file = name === undefined ? undefined : installed(settings.file, name);
  if (file !== undefined) {
    const reason = `verl scores \`${source}\` with its own ${basename(file)}: the term names the installed file`;
    return { use: { use: `${file}:compute_score` }, reason, isPlaceholder: false };
  }
  return placeholder(
    name === undefined
      ? `verl has no function of its own for the source \`${source}\`, or one that needs its package; \`exact_match\` is a placeholder: write the term that fits`
      : `verl scores \`${source}\` with its own ${name}${differs[name] ?? ""}. \`exact_match\` is a placeholder: copy ${name} from verl and write \`use: ./${name}:compute_score\``,
  );
}

/** In the checkout that the script lies in, or in the Python environment around it. */
function installed(configuration: string, name: string): string | undefined {
  const { folder } = versionOf("verl", configuration, "");
  const file = folder === undefined ? undefined : join(folder, "verl", "utils", "reward_score", name);
  return file !== undefined && existsSync(file) ? file : undefined;
}

/** The different values of `data_source` in the files that are on this machine. */
function sourcesOf(settings: Settings): string[] {
  const column = settings.text("data.reward_fn_key") ?? "data_source";
  const files = (settings.list("data.train_files") ?? []).map((name) =>
    dataNamed(settings, "data.train_files", String(name)),
  );
  return [...new Set(files.flatMap((file) => valuesOf(settings.file, file, column)))];
}

/** DAPO's soft punishment of long responses, in whichever section the release has its settings. */
function overlong(settings: Settings): JsonObject {
  const places = ["reward_model.reward_kwargs", "reward.reward_kwargs", "reward_model"];
  for (const place of passesOver(settings) ? ["reward.reward_kwargs"] : places) {
    const at = `${place}.overlong_buffer${place === "reward_model" ? "" : "_cfg"}`;
    if (!settings.has(`${at}.len`) || (settings.has(`${at}.enable`) && !settings.flag(`${at}.enable`)))
      continue;
    settings.get(`${at}.log`);
    const limit = settings.number(`${place}.max_resp_len`) ?? settings.need("data.max_response_length");
    const cache = settings.number(`${at}.len`) ?? 0;
    const weight = settings.number(`${at}.penalty_factor`) ?? 1;
    return { overlong: { use: "length", shape: "soft_overlong", limit, cache, weight } };
  }
  return {};
}
