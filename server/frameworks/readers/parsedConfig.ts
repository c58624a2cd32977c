/** What the readers parse, before the release is known. */
import type { Json } from "../../../shared/lib/json.ts";
import type { Range } from "../../lib/lines.ts";
import type { BrokenYaml, CutLaunch, Form, Framework, Setting, UnsetVariable } from "../text/document.ts";

export interface ParsedConfig {
  readonly framework: Framework;
  readonly form: Form;
  readonly settings: readonly Setting[];
  readonly base: ReadonlyMap<string, Json>;
  readonly program?: string | undefined;
  readonly tree?: string | undefined;
  readonly processes?: Setting | undefined;
  readonly unset: readonly UnsetVariable[];
  readonly cut?: CutLaunch | undefined;
  readonly broken?: BrokenYaml | undefined;
  /** Keys in branches whose tests have no known result. */
  readonly uncertain?: ReadonlySet<string>;
  /** A library that replaces the framework's classes by its own, with more arguments and other defaults. */
  readonly patched?: "unsloth" | undefined;
  /** A script that gets its settings from its command line: the file says none. */
  readonly commanded?: boolean;
  /** Something that decides settings could not be read. */
  readonly incomplete: boolean;
  /** A file that it builds on and that was not found. */
  readonly missing?: string | undefined;
  readonly head: Range;
}

/** The framework of these settings; undefined if none is recognised. */
export type OwnerOf = (keys: readonly string[], form: Form) => Framework | undefined;

/** A map on a command line or in Python: each of its values as a setting of its own, all of them at the map's place. */
export function spreadOut(setting: Setting): Setting[] {
  const { key, value } = setting;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [setting];
  const items = Object.entries(value);
  return items.length === 0
    ? [setting]
    : items.flatMap(([name, item]: [string, Json]) =>
        spreadOut({ ...setting, key: `${key}.${name}`, value: item, shared: true }),
      );
}
