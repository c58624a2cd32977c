/** Trainers whose configurations `gradus convert` reads and nothing checks: each is a line of `converters`. */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import type { ConfigDraft } from "./draft.ts";
import { convertPrimeRl, isPrimeRl, primeRlReason, primeRlSettings, tomlOf } from "./primeRl.ts";
import { primeRlDefaults, primeRlRelease } from "./primeRlDefaults.ts";
import { Settings, type Unmapped } from "./settings.ts";

export const others = ["prime-rl"] as const;
export type OtherTrainer = (typeof others)[number];

export const isOther = (name: string | undefined): name is OtherTrainer => others.some((one) => one === name);

interface OtherConverter {
  readonly release: string;
  readonly defaults: JsonObject;
  /**
   * Dotted settings of a text.
   * @param asked it is known to be this trainer's
   * @returns undefined where it is not this trainer's
   */
  readonly read: (file: string, text: string, asked: boolean) => ReadonlyMap<string, Json> | undefined;
  readonly convert: (settings: Settings) => ConfigDraft;
  readonly reasonOf: (key: string) => string;
}

const converters: Readonly<Record<OtherTrainer, OtherConverter>> = {
  "prime-rl": {
    release: primeRlRelease,
    defaults: primeRlDefaults,
    read(file, text, asked) {
      if (!asked && !file.endsWith(".toml")) return undefined;
      const tree = tomlOf(file, text);
      return asked || isPrimeRl(tree) ? primeRlSettings(tree) : undefined;
    },
    convert: convertPrimeRl,
    reasonOf: primeRlReason,
  },
};

export interface OtherConverted {
  /** YAML of a Gradus config. */
  readonly config: string;
  readonly unmapped: readonly Unmapped[];
}

/**
 * A configuration of one of them as one of Gradus; unset keys get the trainer's defaults.
 * @param asked the trainer's name, or that of a framework
 * @returns undefined where it is none of theirs
 */
export function convertOther(file: string, text: string, asked?: string): OtherConverted | undefined {
  if (asked !== undefined && !isOther(asked)) return undefined;
  for (const name of asked === undefined ? others : [asked]) {
    const { release, defaults, read, convert, reasonOf } = converters[name];
    const written = read(file, text, asked !== undefined);
    if (written === undefined) continue;
    const settings = new Settings(written, defaults, file);
    const draft = convert(settings);
    return {
      config: draft.text(`Converted from a configuration of ${release}.`),
      unmapped: settings.unmapped(reasonOf),
    };
  }
  return undefined;
}
