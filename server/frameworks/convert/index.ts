/** `gradus convert`: a configuration of verl, TRL, OpenRLHF, SkyRL or prime-rl as one of Gradus. */
import type { JsonObject } from "../../../shared/lib/json.ts";
import { pythonText } from "../../lib/notebook/notebook.ts";
import { flatTable } from "../tables/flatTable.ts";
import type { ConfigDraft } from "./draft.ts";
import { convertOpenRlhf, openrlhfReason } from "./openrlhf.ts";
import { openrlhfDefaults } from "./openrlhfFlags.ts";
import { convertPrimeRl, primeRlReason } from "./primeRl/index.ts";
import { primeRlDefaults, primeRlRelease } from "./primeRl/defaults.ts";
import { readFramework } from "./read.ts";
import { Settings, type Unmapped } from "./settings.ts";
import { convertSkyrl, skyrlReason } from "./skyrl/index.ts";
import { spelledOut } from "./spelling.ts";
import { convertTrl } from "./trl.ts";
import { trlDefaults, trlPreferenceDefaults, trlReason } from "./trlDefaults.ts";
import { convertTrlPreference, isPreference } from "./trlPreference.ts";
import type { Converted, ConvertedFrom } from "./types.ts";
import { convertVerl, verlReason } from "./verl.ts";
import { verlDefaults } from "./verlDefaults.ts";

export type { Converted, ConvertedFrom } from "./types.ts";
export type { Unmapped } from "./settings.ts";

interface FrameworkConverter {
  /** The release whose defaults and formulas apply. */
  readonly release: string;
  readonly defaults: JsonObject;
  readonly convert: (settings: Settings) => ConfigDraft;
  readonly reasonOf: (key: string, settings: Settings) => string;
}

const converters: Readonly<Record<ConvertedFrom, FrameworkConverter>> = {
  verl: { release: "verl 0.9.1", defaults: verlDefaults, convert: convertVerl, reasonOf: verlReason },
  trl: { release: "TRL 1.16", defaults: trlDefaults, convert: convertTrl, reasonOf: trlReason },
  openrlhf: {
    release: "OpenRLHF 0.11",
    defaults: openrlhfDefaults,
    convert: convertOpenRlhf,
    reasonOf: openrlhfReason,
  },
  skyrl: {
    release: "SkyRL 0.3.0",
    get defaults() {
      return flatTable("skyrl").keys;
    },
    convert: convertSkyrl,
    reasonOf: skyrlReason,
  },
  "prime-rl": {
    release: primeRlRelease,
    defaults: primeRlDefaults,
    convert: convertPrimeRl,
    reasonOf: primeRlReason,
  },
};
const preference: FrameworkConverter = {
  ...converters.trl,
  defaults: trlPreferenceDefaults,
  convert: convertTrlPreference,
};
export const frameworks: readonly ConvertedFrom[] = ["verl", "trl", "openrlhf", "skyrl", "prime-rl"];

/**
 * Unset keys get the framework's default, and the result says so.
 * @param file where relative files that the text names are looked for
 * @param asked the framework, if the text does not show it
 * @param rows a file with the rows that its script has built
 * @throws UserError if it is not a configuration of one of them
 */
export function convert(file: string, given: string, asked?: ConvertedFrom, rows?: string): Converted {
  const text = pythonText(file, given);
  const {
    framework,
    settings: read,
    lost,
    rewards,
    rowsBuilder,
    release: known,
    places,
    head,
  } = readFramework(file, text, asked);
  const written = spelledOut(
    framework,
    rows === undefined ? read : new Map([...read, ["train_dataset", rows]]),
  );
  const {
    release,
    defaults,
    convert: toDraft,
    reasonOf,
  } = framework === "trl" && isPreference(written) ? preference : converters[framework];
  const settings = new Settings(written, defaults, { file, rewards, release: known });
  const draft = toDraft(settings);
  const left = rows === undefined ? lost : lost.filter(({ key }) => key !== "train_dataset");
  const unmapped = [...left, ...settings.unmapped((key) => reasonOf(key, settings))];
  const config = draft.text(`Converted from a configuration of ${release}.`);
  const defaulted = decidedByDefault(framework, settings, release);
  const { rewardReplaced } = settings;
  return { framework, config, unmapped, defaulted, rowsBuilder, rewardReplaced, places, head };
}

/** Model, data, batch, group and lengths. */
const deciding: Readonly<Record<ConvertedFrom, readonly string[]>> = {
  verl: [
    "actor_rollout_ref.model.path",
    "data.train_files",
    "data.train_batch_size",
    "actor_rollout_ref.rollout.n",
    "data.max_prompt_length",
    "data.max_response_length",
  ],
  trl: ["per_device_train_batch_size", "num_generations", "max_completion_length"],
  openrlhf: ["rollout.batch_size", "rollout.n_samples_per_prompt", "train.batch_size", "data.max_len"],
  skyrl: [
    "trainer.policy.model.path",
    "data.train_data",
    "trainer.train_batch_size",
    "generator.n_samples_per_prompt",
    "trainer.max_prompt_length",
    "generator.sampling_params.max_generate_length",
  ],
  "prime-rl": ["model.name", "orchestrator.batch_size", "orchestrator.group_size"],
};

/** The settings that decide what a run is, where the file leaves them to the framework's defaults. */
const decidedByDefault = (
  framework: ConvertedFrom,
  settings: Settings,
  release: string,
): readonly Unmapped[] =>
  deciding[framework]
    .filter((key) => settings.isDefault(key))
    .map((key) => ({ key, value: settings.peek(key) ?? null, reason: `the default of ${release}` }));
