/** What the texts of a config may name, as offers. */
import { basename, dirname } from "node:path";
import { metricNamed } from "../../../shared/metrics/metrics.ts";
import { listPresets, type Preset } from "../../config/presets.ts";
import type { FileSlot } from "../../config/check/method.ts";
import { cachedDatasets } from "../../lib/datasets/hub.ts";
import { hubDataset } from "../../lib/datasets/name.ts";
import { child, type SourceNode } from "../../config/text/node.ts";
import type { Reference } from "../../core/references.ts";
import type { Cursor } from "../tolerant/cursor.ts";
import { metricFacts } from "../hovers/namedText.ts";
import type { Step } from "../spot.ts";
import { filesFor } from "./files.ts";
import { datasetOf, metricsOf, namesIn, type Names } from "./names.ts";
import { offerOf, tierOf, type Offer } from "./offer.ts";
import type { Field } from "./rows.ts";
import { isShippedPreset } from "./shipped.ts";
import { ownFiles } from "./ownFiles.ts";

export interface Surroundings {
  readonly cursor: Cursor;
  /** The config as it last resolved. */
  readonly merged: SourceNode | undefined;
  /** Path of the config's file. */
  readonly file: string;
}

/** Sizes that machines have. */
const sizes = ["2GiB", "4GiB", "8GiB", "16GiB", "32GiB", "64GiB"];

export function namedAt(around: Surroundings): (reference: Reference) => readonly Offer[] {
  const { cursor, merged, file } = around;
  const folder = dirname(file);
  let known: Names | undefined;
  const names = (): Names => (known ??= namesIn(cursor.root, merged, folder));
  return (reference) => {
    switch (reference.to) {
      case "metric":
        return metricsOf(names()).map(metricOffer);
      case "evaluation metric":
        return metricsOf(names())
          .filter(({ name }) => name.startsWith("eval/"))
          .map(metricOffer);
      case "model":
        return unique([...(reference.also ?? []), ...names().models]).map((name) =>
          offerOf(name, "name", "model"),
        );
      case "task":
        return names().tasks.map((name) => offerOf(name, "name", "task"));
      case "term":
        return names().terms.map((name) => offerOf(name, "name", "reward term"));
      case "stage":
        return names().stages.map((name) => offerOf(name, "name", "stage"));
      case "snapshot":
        return names().snapshots.map((name) => offerOf(name, "name", "snapshot"));
      case "head":
        return names().heads.map((name) => offerOf(name, "name", "value head"));
      case "shown":
        return names().shown.map((name) => offerOf(name, "name", "shown by an entry of kl"));
      case "file":
        return [
          ...fileOffers(cursor.before, folder, reference.ends),
          ...(reference.ends.includes(".parquet") ? hubOffers() : []),
          ...(reference.also ?? []).map((name) => offerOf(name, "name", "comes with Gradus")),
        ];
      case "field":
        return fieldsAt(around, reference.fields).map(({ path, example }) => ({
          kind: "name",
          text: path,
          detail: example,
        }));
      case "template":
        return fieldsAt(around, reference.fields).map(({ path, example }) => ({
          kind: "name",
          text: `{${path}}`,
          detail: example,
        }));
      case "size":
        return sizes.map((text) => offerOf(text, "word"));
    }
  };
}

const unique = (names: readonly string[]): string[] => [...new Set(names)];

function metricOffer({ name, summary }: { readonly name: string; readonly summary: string }): Offer {
  const metric = metricNamed(name);
  return {
    kind: "metric",
    text: name,
    detail: metric?.unit ?? "",
    says: () => (metric === undefined ? summary : `${summary}\n\n${metricFacts(metric)}`.trim()),
  };
}

const fileOffers = (written: string, folder: string, ends: readonly string[]): Offer[] =>
  filesFor(written, folder, ends).map(({ text, folder: isFolder }) => ({
    kind: isFolder ? "folder" : "file",
    text,
    ...(isFolder ? { rank: 800 } : {}),
  }));

/** Datasets of the Hub that are on this machine. */
const hubOffers = (): Offer[] =>
  cachedDatasets().map((repo) => ({
    kind: "name",
    text: hubDataset(repo, {}),
    detail: "in the Hugging Face cache",
    rank: 900,
  }));

/** Published methods, and configs that lie near. */
export const parents = ({ cursor, file }: Surroundings): Offer[] => [
  ...(/[./]/.test(cursor.before) ? [] : listPresets().map(presetOffer)),
  ...fileOffers(cursor.before, dirname(file), [".yaml", ".yml"]).filter(
    ({ text }) => basename(text) !== basename(file),
  ),
];

function presetOffer(preset: Preset): Offer {
  const { id, title, follows, status } = preset;
  const research = !isShippedPreset(preset);
  return {
    kind: "preset",
    text: id,
    detail: research ? `research · ${title}` : title,
    says: () => `**${title}**\n\n${follows}${status === "exact" ? "" : `\n\n${status}`}`,
    tier: tierOf(research, status),
    research,
  };
}

/** The fields that the environment makes, or those of the dataset's lines. */
export function fieldsAt(
  { cursor, merged, file }: Surroundings,
  made: readonly string[] | undefined,
): readonly Field[] {
  if (made !== undefined) return made.map((path) => ({ path, example: "" }));
  const task = cursor.path.slice(0, -1);
  const rows = [cursor.root, merged].map((root) => datasetOf(nodeAt(root, task), dirname(file)));
  return rows.find((found) => found !== undefined)?.fields ?? [];
}

export const nodeAt = (root: SourceNode | undefined, path: readonly Step[]): SourceNode | undefined =>
  path.reduce<SourceNode | undefined>(
    (node, step) => (node?.kind === "list" ? node.items[Number(step)] : child(node, String(step))),
    root,
  );

/** Files of the user's for a slot, and the exports of one that is written down to its colon. */
export const ownOffers = ({ cursor, file }: Surroundings, slot: FileSlot): Offer[] =>
  ownFiles(cursor.before, dirname(file), slot);
