/** Published methods as choices of options: one YAML file each in `presets/`. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { UserError } from "../../shared/lib/errors.ts";
import { child, textOf, toJson, type Origin } from "./text/node.ts";
import { parseSource } from "./text/source.ts";

/** The header of a preset's file, under the key `preset`, which only these files may have. */
const headerSchema = z.strictObject({
  /** Of a preset of no paper, or where the first paper's title is not its name. */
  title: z.string().optional(),
  /** Titles as published; each is in papers/papers.yaml. */
  papers: z.array(z.string()).default([]),
  /** What a diagnostic or a simulation shows, `follows` says by which command. */
  kind: z.enum(["method", "recipe", "baseline", "diagnostic", "simulation"]),
  status: z.enum(["exact", "approximate", "piece"]),
  /** Which version it follows (paper or released code), and what could not be confirmed. */
  follows: z.string(),
});

export interface Preset extends z.output<typeof headerSchema> {
  readonly title: string;
  readonly id: string;
  readonly file: string;
  readonly extends: string | null;
  /** Top-level blocks the preset chooses something in. */
  readonly slots: readonly string[];
}

/** The nearest folder upwards that holds `presets/grpo.yaml`: the checkout, or the installed extension. */
export function presetsFolder(start = dirname(fileURLToPath(import.meta.url))): string {
  for (let folder = start; ; folder = dirname(folder)) {
    const presets = join(folder, "presets");
    if (existsSync(join(presets, "grpo.yaml"))) return presets;
    if (dirname(folder) === folder) {
      throw new UserError("the folder of presets is missing", {
        action: `Reinstall Gradus: no folder above ${start} holds presets/grpo.yaml.`,
      });
    }
  }
}

let files: ReadonlyMap<string, string> | undefined;

/** Files of presets by id: they belong to the installation, and are looked for once. */
function presetFiles(): ReadonlyMap<string, string> {
  if (files !== undefined) return files;
  const folder = presetsFolder();
  const names = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
  files = new Map(names.sort().map((name) => [basename(name, ".yaml"), join(folder, name)]));
  return files;
}

export const presetIds = (): readonly string[] => [...presetFiles().keys()];

export const presetFile = (id: string): string | undefined => presetFiles().get(id);

const known = new Map<string, Preset>();

export function presetNamed(id: string): Preset | undefined {
  const file = presetFile(id);
  if (file === undefined) return undefined;
  const preset = known.get(id) ?? readPreset(file);
  known.set(id, preset);
  return preset;
}

/** Every preset, by id. */
export const listPresets = (): readonly Preset[] => presetIds().flatMap((id) => presetNamed(id) ?? []);

/** What a preset chooses itself, and after it what each that it extends does, as JSON. */
export function presetBodies(id: string): readonly unknown[] {
  const preset = presetNamed(id);
  if (preset === undefined) return [];
  const { root } = sourceOf(preset.file);
  const above = preset.extends === null ? [] : presetBodies(preset.extends);
  return [root === undefined ? undefined : toJson(root), ...above];
}

function sourceOf(file: string): ReturnType<typeof parseSource> {
  const origin: Omit<Origin, "range"> = { file, folder: dirname(file), via: [], layer: "preset" };
  return parseSource(file, readFileSync(file, "utf8"), origin);
}

function readPreset(file: string): Preset {
  const { root } = sourceOf(file);
  const header = child(root, "preset");
  const parsed = headerSchema.safeParse(header === undefined ? undefined : toJson(header));
  const title = parsed.data?.title ?? parsed.data?.papers[0];
  if (!parsed.success || root?.kind !== "map" || title === undefined) {
    throw new UserError("the preset's header is missing or incomplete", {
      file,
      action: "Write papers (or title), kind, status and follows under `preset`.",
    });
  }
  const slots = [...root.entries.keys()].filter((key) => key !== "preset" && key !== "extends");
  return {
    ...parsed.data,
    title,
    id: basename(file, ".yaml"),
    file,
    extends: textOf(child(root, "extends")) ?? null,
    slots,
  };
}
