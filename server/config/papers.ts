/** What Gradus has of the published methods: the titles of papers/papers.yaml, with the presets that name them. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import type { Paper } from "../../shared/editor/papers.ts";
import { UserError } from "../../shared/lib/errors.ts";
import { listPresets, presetsFolder, type Preset } from "./presets.ts";

const entrySchema = z.strictObject({
  /** As published. */
  title: z.string(),
  arxiv: z.string().optional(),
  /** Of a paper without a preset, or where it differs from its presets' best. */
  status: z.enum(["exact", "approximate", "piece"]).optional(),
  /** Which version of the paper or its code; of a piece, what there is and what is missing. */
  follows: z.string().optional(),
  /** What to type, next to `gradus init --from PRESET`. */
  commands: z.array(z.string()).default([]),
  /** A preset that an earlier version had; `follows` says what takes its place. */
  was: z.string().optional(),
  /** `later`: a paper that was added to the first list, counted apart. */
  list: z.literal("later").optional(),
});
type Entry = z.output<typeof entrySchema>;

let entries: readonly Entry[] | undefined;

/** The file belongs to the installation, and is read once. */
function readEntries(): readonly Entry[] {
  if (entries !== undefined) return entries;
  const file = join(dirname(presetsFolder()), "papers", "papers.yaml");
  const parsed = z.array(entrySchema).safeParse(parse(readFileSync(file, "utf8")));
  if (!parsed.success)
    throw new UserError(`the list of papers is damaged: ${z.prettifyError(parsed.error)}`, {
      file,
      action: "Reinstall Gradus, or correct the entry.",
    });
  return (entries = parsed.data);
}

const ranks = ["exact", "approximate", "piece"] as const;

function paperOf(
  { title, arxiv, status, follows, commands, list }: Entry,
  presets: readonly Preset[],
): Paper {
  const best = ranks.find((rank) => presets.some((preset) => preset.status === rank));
  const versions = presets.map((preset) =>
    presets.length === 1 ? preset.follows : `${preset.id}: ${preset.follows}`,
  );
  const followed = follows ?? (versions.length === 0 ? undefined : versions.join("\n"));
  return {
    title,
    ...(arxiv === undefined ? {} : { arxiv }),
    presets: presets.map(({ id }) => id),
    commands: [...presets.map(({ id }) => `gradus init --from ${id}`), ...commands],
    status: status ?? best ?? "none",
    ...(followed === undefined ? {} : { follows: followed }),
    ...(list === undefined ? {} : { list }),
  };
}

/** Every paper, by title. */
export function listPapers(): readonly Paper[] {
  const presets = listPresets().toSorted((one, other) => (one.id < other.id ? -1 : 1));
  return readEntries().map((entry) =>
    paperOf(
      entry,
      presets.filter(({ papers }) => papers.includes(entry.title)),
    ),
  );
}

/** A title with its arXiv id, where that is known. */
export function paperReference(title: string): { readonly title: string; readonly arxiv?: string } {
  const arxiv = readEntries().find((entry) => entry.title === title)?.arxiv;
  return { title, ...(arxiv === undefined ? {} : { arxiv }) };
}

/** Ids of presets that earlier versions had. */
export const formerPresets = (): readonly string[] => readEntries().flatMap(({ was }) => was ?? []);

/** What takes the place of a preset that an earlier version had; undefined for any other name. */
export function formerPreset(id: string): { readonly title: string; readonly follows: string } | undefined {
  const entry = readEntries().find(({ was }) => was === id);
  return entry?.follows === undefined ? undefined : { title: entry.title, follows: entry.follows };
}
