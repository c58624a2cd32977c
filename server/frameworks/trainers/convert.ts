/** `gradus convert`: a configuration of another trainer as one of Gradus. */
import type { Json } from "../../../shared/lib/json.ts";
import { isChecked } from "../../../shared/run/trainers.ts";
import { pythonText } from "../../lib/notebook/notebook.ts";
import { releaseDefaults, type ReleaseDefaults } from "../lens/releaseDefaults.ts";
import { Settings, type Unmapped } from "../lens/settings.ts";
import type { Converted, ConvertedFrom, Converter, FrameworkSettings } from "../lens/types.ts";
import { namedRelease } from "../releases/version.ts";
import { converters } from "./converters.ts";
import { readFramework } from "./read.ts";
import { trlPreferenceConverter } from "./trl/lens/converter.ts";
import { isPreference } from "./trl/lens/preference.ts";
import { spelledOut } from "./verl/lens/spelling.ts";

export type { Converted, ConvertedFrom } from "../lens/types.ts";
export type { Unmapped } from "../lens/settings.ts";

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

const converterOf = (framework: ConvertedFrom, settings: ReadonlyMap<string, Json>): Converter =>
  framework === "trl" && isPreference(settings) ? trlPreferenceConverter : converters[framework];

/** Of the release that `validate` checks the file against; of a trainer without tables, of the one that is known. */
function defaultsOf(
  { release = "", defaults, tree }: Converter,
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

/** The settings that decide what a run is, where the file leaves them to the framework's defaults. */
const decidedByDefault = (
  framework: ConvertedFrom,
  settings: Settings,
  release: string,
): readonly Unmapped[] =>
  converters[framework].deciding
    .filter((key) => settings.isDefault(key))
    .map((key) => ({ key, value: settings.peek(key) ?? null, reason: `the default of ${release}` }));
