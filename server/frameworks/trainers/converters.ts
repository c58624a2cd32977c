/** `gradus convert`: a configuration of verl, TRL, OpenRLHF, SkyRL or prime-rl as one of Gradus. */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { pythonText } from "../../lib/notebook/notebook.ts";
import { flatTable } from "../releases/flatTable.ts";
import { isChecked } from "../text/names.ts";
import { namedRelease } from "../releases/version.ts";
import type { ConfigDraft } from "../lens/configDraft.ts";
import { convertOpenRlhf, openrlhfReason } from "./openrlhf/lens/settings.ts";
import { openrlhfDefaults } from "./openrlhf/lens/flags.ts";
import { convertPrimeRl, primeRlReason } from "./primeRl/lens/settings.ts";
import { primeRlDefaults, primeRlRelease } from "./primeRl/lens/defaults.ts";
import { readFramework } from "./read.ts";
import { releaseDefaults, type ReleaseDefaults } from "../lens/releaseDefaults.ts";
import { Settings, type Unmapped } from "../lens/settings.ts";
import { convertSkyrl, skyrlReason } from "./skyrl/lens/settings.ts";
import { spelledOut } from "./verl/lens/spelling.ts";
import { convertTrl } from "./trl/lens/settings.ts";
import { trlDefaults, trlPreferenceDefaults, trlReason } from "./trl/lens/defaults.ts";
import { convertTrlPreference, isPreference } from "./trl/lens/preference.ts";
import type { Converted, ConvertedFrom, FrameworkSettings } from "../lens/types.ts";
import { convertVerl, verlReason } from "./verl/lens/settings.ts";
import { verlDefaults } from "./verl/lens/defaults.ts";

export type { Converted, ConvertedFrom } from "../lens/types.ts";
export type { Unmapped } from "../lens/settings.ts";

interface FrameworkConverter {
  /** Of a trainer without tables: the only release whose defaults are known. */
  readonly release?: string;
  /** The set of keys, where the converter decides it. */
  readonly tree?: string;
  /** The newest release's. */
  readonly defaults: JsonObject;
  readonly convert: (settings: Settings) => ConfigDraft;
  readonly reasonOf: (key: string, settings: Settings) => string;
}

const converters: Readonly<Record<ConvertedFrom, FrameworkConverter>> = {
  verl: { defaults: verlDefaults, convert: convertVerl, reasonOf: verlReason },
  trl: { defaults: trlDefaults, convert: convertTrl, reasonOf: trlReason },
  openrlhf: {
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
  tree: "dpo",
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
  const source = readFramework(file, text, asked);
  const { framework, lost, rewards, columns, rowsBuilder, places, head } = source;
  const settingsRead =
    rows === undefined ? source.settings : new Map([...source.settings, ["train_dataset", rows]]);
  const converter = converterOf(framework, spelledOut(framework, settingsRead));
  const { release, defaults } = defaultsOf(converter, source, () => namedRelease(framework, file, text));
  const written = spelledOut(framework, settingsRead, defaults);
  const settings = new Settings(written, defaults, { file, rewards, columns, release: source.release });
  const draft = converter.convert(settings);
  const left = rows === undefined ? lost : lost.filter(({ key }) => key !== "train_dataset");
  const unmapped = [...left, ...settings.unmapped((key) => converter.reasonOf(key, settings))];
  const config = draft.text(`Converted from a configuration of ${release}.`);
  const defaulted = decidedByDefault(framework, settings, release);
  const { rewardReplaced } = settings;
  return { framework, config, unmapped, defaulted, rowsBuilder, rewardReplaced, places, head };
}

const converterOf = (framework: ConvertedFrom, settings: ReadonlyMap<string, Json>): FrameworkConverter =>
  framework === "trl" && isPreference(settings) ? preference : converters[framework];

/** Of the release that `validate` checks the file against; of a trainer without tables, of the one that is known. */
function defaultsOf(
  { release = "", defaults, tree }: FrameworkConverter,
  source: FrameworkSettings,
  named: () => string | undefined,
): ReleaseDefaults {
  const { framework, version } = source;
  if (version !== undefined && isChecked(framework))
    return releaseDefaults(framework, version, defaults, tree ?? source.tree);
  return { release: otherThan(release, named()), defaults };
}

/** "SkyRL 0.2.0, by the defaults of 0.3.0" */
function otherThan(release: string, named: string | undefined): string {
  const [, name = "", known = ""] = /^(.*) (\S+)$/.exec(release) ?? [];
  return named === undefined || named === known ? release : `${name} ${named}, by the defaults of ${known}`;
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
  openrlhf: [
    "rollout.batch_size",
    "rollout.n_samples_per_prompt",
    "train.batch_size",
    "data.max_len",
    "data.prompt_max_len",
    "rollout.max_new_tokens",
  ],
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
