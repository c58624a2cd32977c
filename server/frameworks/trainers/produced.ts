/**
 * What configurations of TRL and verl can become: the converters run on every choice that the frameworks have, so
 * that what these frameworks ship is read off the conversions and listed nowhere.
 */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import type { ConfigDraft } from "../lens/configDraft.ts";
import { Settings } from "../lens/settings.ts";
import { convertTrl } from "./trl/lens/settings.ts";
import { trlDefaults, trlPreferenceDefaults } from "./trl/lens/defaults.ts";
import { convertTrlPreference } from "./trl/lens/preference.ts";
import { convertVerl } from "./verl/lens/settings.ts";
import { verlDefaults } from "./verl/lens/defaults.ts";
import { choicesOf, keysWithChoices } from "../releases/facts/choices.ts";
import type { Framework } from "../text/document.ts";

interface Family {
  readonly framework: Framework;
  /** The release that the converter follows. */
  readonly release: string;
  readonly tree?: string;
  readonly defaults: JsonObject;
  readonly convert: (settings: Settings) => ConfigDraft;
  /** Values of keys that are no choice between names, which switch something on; several of a key are tried each. */
  readonly switches: Readonly<Record<string, readonly Json[]>>;
}

const correction = "algorithm.rollout_correction";
const rejections = ["token", "seq_sum", "seq_mean", "seq_max"].map((level) => `${level}_k1`);

const families: readonly Family[] = [
  {
    framework: "trl",
    release: "1.16.0",
    defaults: trlDefaults,
    convert: convertTrl,
    switches: {
      use_vllm: [true],
      beta: [0.04],
      mask_truncated_completions: [true],
      off_policy_mask_threshold: [0.5],
      top_entropy_quantile: [0.2],
      use_adaptive_entropy: [true],
      top_p: [0.9],
    },
  },
  {
    framework: "trl",
    release: "1.16.0",
    tree: "dpo",
    defaults: trlPreferenceDefaults,
    convert: convertTrlPreference,
    switches: {},
  },
  {
    framework: "verl",
    release: "0.9.1",
    defaults: verlDefaults,
    convert: convertVerl,
    switches: {
      "algorithm.use_kl_in_reward": [true],
      "algorithm.norm_adv_by_std_in_grpo": [false],
      "algorithm.filter_groups.enable": [true],
      "actor_rollout_ref.actor.use_kl_loss": [true],
      "actor_rollout_ref.rollout.top_p": [0.9],
      [`${correction}.rollout_is`]: ["token", "sequence"],
      [`${correction}.rollout_is_threshold`]: ["0.5_5.0"],
      [`${correction}.rollout_rs`]: rejections,
      [`${correction}.rollout_rs_threshold`]: [2],
      [`${correction}.bypass_mode`]: [false, true],
    },
  },
];

let made: readonly JsonObject[] | undefined;

/** Gradus configs that TRL 1.16 and verl 0.9.1 can be converted into, which together hold whatever they ship. */
export const producedConfigs = (): readonly JsonObject[] => (made ??= families.flatMap(ofFamily));

function ofFamily({ framework, release, tree, defaults, convert, switches }: Family): JsonObject[] {
  const choices = Object.fromEntries(
    keysWithChoices(framework, tree)
      .filter((key) => Object.hasOwn(defaults, key))
      .map((key) => [key, choicesOf(framework, release, key, tree) ?? []]),
  );
  const options: readonly (readonly [string, Json])[] = Object.entries({ ...choices, ...switches }).flatMap(
    ([key, values]) => values.map((value) => [key, value] as const),
  );
  const on = new Map(Object.entries(switches).map(([key, values]) => [key, values[0] ?? null]));
  const written = [
    new Map<string, Json>(),
    ...options.flatMap((one) => [new Map([one]), new Map([...on, one])]),
  ];
  // No data and no file of a project: only the algorithm is of interest.
  return written.map(
    (settings) => convert(new Settings(settings, { ...defaults, ...noData }, { file: "" })).config,
  );
}

const noData: JsonObject = { "data.train_files": [], dataset_name: null };
