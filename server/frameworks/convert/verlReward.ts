/** verl's rewards: the project's own function, or verl's by the data's source. */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { JsonObject } from "../../../shared/lib/json.ts";
import { valuesOf } from "../project/dataFiles.ts";
import { versionOf } from "../version.ts";
import { fields, type ConfigDraft } from "./draft.ts";
import { dataNamed, pythonUse } from "./paths.ts";
import type { Settings } from "./settings.ts";

/** The section moved below `reward` in 0.7.1. */
const sections = ["reward.custom_reward_function", "custom_reward_function"] as const;

export function rewards(settings: Settings, draft: ConfigDraft): void {
  const keys = settings.list("algorithm.gdpo_reward_keys")?.map(String);
  const weights = settings.list("algorithm.gdpo_reward_weights")?.map(Number);
  const gdpo = settings.peek("algorithm.adv_estimator") === "gdpo";
  const own = ownFunction(settings);
  const use = own ?? scoredBySource(settings);
  const names = gdpo && keys !== undefined ? keys : ["score"];
  if (gdpo && own !== undefined)
    settings.refuse(
      "algorithm.gdpo_reward_keys",
      "in verl one function returns all parts; in Gradus each term calls its own function",
    );
  const terms = names.map((term, i): [string, JsonObject] => [
    term,
    { ...use, ...fields({ weight: weights?.[i] }) },
  ]);
  draft.set("reward", { terms: { ...Object.fromEntries(terms), ...overlong(settings) } });
}

/** The term of `custom_reward_function`, with what verl hands it at every call. */
function ownFunction(settings: Settings): JsonObject | undefined {
  const [path] = sections.flatMap((section) => settings.text(`${section}.path`) ?? []);
  const [name = "compute_score"] = sections.flatMap((section) => settings.text(`${section}.name`) ?? []);
  const [args] = sections.flatMap((section) => settings.below(`${section}.reward_kwargs`) ?? []);
  if (path === undefined || path === "") return undefined;
  return { use: pythonUse(settings.file, path, name), ...fields({ args }) };
}

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

/** The files of an installed verl score as verl does; without them a placeholder remains, and why. */
function scoredBySource(settings: Settings): JsonObject {
  const sources = sourcesOf(settings);
  const [source] = sources;
  const say = (reason: string): void => settings.refuse("reward.custom_reward_function.path", reason, null);
  if (source === undefined || sources.length > 1) {
    const which = sources.length > 1 ? ` (here ${sources.join(", ")})` : "";
    say(
      `verl scores by the data's source${which}; \`exact_match\` is a placeholder: write the term that fits`,
    );
    return { use: "exact_match" };
  }
  const name = scorers.find(([pattern]) => pattern.test(source))?.[1];
  const file = name === undefined ? undefined : installed(settings.file, name);
  if (file !== undefined) {
    say(`verl scores \`${source}\` with its own ${basename(file)}: the term names the installed file`);
    return { use: `${file}:compute_score` };
  }
  say(
    name === undefined
      ? `verl has no function of its own for the source \`${source}\`, or one that needs its package; \`exact_match\` is a placeholder: write the term that fits`
      : `verl scores \`${source}\` with its own ${name}${differs[name] ?? ""}. \`exact_match\` is a placeholder: copy ${name} from verl and write \`use: ./${name}:compute_score\``,
  );
  return { use: "exact_match" };
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
  for (const place of ["reward_model.reward_kwargs", "reward.reward_kwargs", "reward_model"]) {
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
