/** What the side bar says of a folder that holds another trainer's launches: `gradus check`, in a few words. Pure. */
import { basename, dirname } from "node:path";
import type { Finding, FolderSum } from "../../../shared/editor/folderSum.ts";
import { plural } from "../../../shared/lib/format.ts";

export interface Card {
  /** Absolute: what the sum's names are relative to. */
  readonly folder: string;
  /** "verl 0.9.1", "verl checkout". */
  readonly title: string;
  /** "scripts/train.sh · 2 findings · outputs: 60 steps". */
  readonly said: string;
  readonly tooltip: string;
  /** Findings that are more than information. */
  readonly findings: number;
  /** Launches, then what else something was found in, logs aside. */
  readonly files: readonly FileLine[];
  readonly outputs: readonly OutputLine[];
  /** The worst first. */
  readonly logs: readonly FileLine[];
  /** Files whose reward can be tried. */
  readonly rewards: readonly string[];
  /** Its launches are listed only when it is opened: they are beside the checkout's own. */
  readonly isCheckout: boolean;
}
export interface FileLine {
  /** As in the sum. */
  readonly file: string;
  readonly starts: boolean;
  readonly label: string;
  readonly said: string;
  readonly tooltip: string;
  readonly worst: "error" | "warning" | undefined;
  /** Of the first finding, from 1; of a notebook its cell instead. */
  readonly line: number | undefined;
  readonly cell: number | undefined;
}
interface OutputLine {
  readonly folder: string;
  readonly config: string;
  readonly said: string;
}

/** undefined: the folder has nothing of a trainer that is the person's. */
export function cardOf(folder: string, sum: FolderSum): Card | undefined {
  const files = [...new Set(sum.trainers.flatMap((one) => one.files))];
  const checkout = sum.checkouts.find((one) => one.folder === ".");
  if (files.length + sum.outputs.length === 0) return undefined;
  const told = sum.findings.filter(({ severity }) => severity !== "info");
  const found = findingsText(told.length);
  const outputs = sum.outputs.map((one) => ({ ...one, said: plural(one.steps, "step") }));
  return {
    folder,
    title: checkout === undefined ? named(sum) : `${checkout.trainer} checkout`,
    said:
      checkout === undefined
        ? [
            filesText(files),
            found,
            ...outputs.map(({ folder: at, said }) => `${at}: ${said}`).slice(0, mostOutputs),
          ].join(" · ")
        : `${plural(checkout.yours.length, "file")} of yours`,
    tooltip: [...files.slice(0, mostFiles), found, ...sum.trainers.flatMap(assumedText)].join("\n"),
    findings: told.length,
    files: [
      ...files.map((file) => fileLine(file, true, told)),
      ...[...new Set(told.map(({ file }) => file))]
        .filter((file) => !files.includes(file) && !sum.logs.includes(file))
        .map((file) => fileLine(file, false, told)),
    ],
    outputs,
    logs: [...new Set([...told.map(({ file }) => file), ...sum.logs])]
      .filter((file) => sum.logs.includes(file))
      .slice(0, mostLogs)
      .map((file) => fileLine(file, false, told)),
    rewards: sum.rewards.filter((file) => files.includes(file)),
    isCheckout: checkout !== undefined,
  };
}

const mostOutputs = 2;
const mostFiles = 10;
const mostLogs = 3;

export const findingsText = (count: number): string =>
  count === 0 ? "no findings" : plural(count, "finding");

/** "verl 0.9.1, TRL": a release only where something says which it is. */
const named = ({ trainers }: FolderSum): string =>
  [
    ...new Set(
      trainers.map(({ trainer, version, assumed }) => (assumed ? trainer : `${trainer} ${version}`)),
    ),
  ].join(", ");

const assumedText = ({ trainer, version, assumed }: FolderSum["trainers"][number]): readonly string[] =>
  assumed ? [`Nothing here names the release of ${trainer}: checked as ${version}, the newest known.`] : [];

const filesText = (files: readonly string[]): string =>
  files.length === 1 ? files[0]! : plural(files.length, "file");

/** @param told findings of the folder, the worst first */
function fileLine(file: string, starts: boolean, told: readonly Finding[]): FileLine {
  const own = told.filter((one) => one.file === file);
  const folder = dirname(file);
  const said = [...(folder === "." ? [] : [folder]), ...(own.length === 0 ? [] : [findingsText(own.length)])];
  const [first] = own;
  return {
    file,
    starts,
    label: basename(file),
    said: said.join(" · "),
    tooltip: [file, ...own.slice(0, mostFiles).map(findingText)].join("\n"),
    worst: first === undefined || first.severity === "info" ? undefined : first.severity,
    // A cell's line is none of the file's.
    line: first?.cell === undefined ? first?.line : undefined,
    cell: first?.cell,
  };
}

const findingText = ({ cell, line, message }: Finding): string =>
  `${cell === undefined ? "" : `cell ${cell}, `}${line === undefined ? "" : `line ${line}: `}${message}`;

/** In the status bar, where there is room for the least: the script's name is in the side bar. */
export function barText(cards: readonly Card[]): string | undefined {
  if (cards.length === 0) return undefined;
  const { title, isCheckout, findings, outputs, said } = cards[0]!;
  const steps = outputs.length === 0 ? [] : [outputs[0]!.said];
  const first = isCheckout ? `${title}: ${said}` : [title, findingsText(findings), ...steps].join(" · ");
  return cards.length === 1 ? first : `${first} · ${plural(cards.length - 1, "more folder")}`;
}

/** A row: the card, what starts trainings or is wrong, what trainings left, and what can be tried. */
export type CardNode =
  | { readonly kind: "card"; readonly card: Card }
  | { readonly kind: "file"; readonly card: Card; readonly line: FileLine }
  | { readonly kind: "output"; readonly card: Card; readonly line: OutputLine }
  | { readonly kind: "log"; readonly card: Card; readonly line: FileLine }
  | { readonly kind: "reward"; readonly card: Card; readonly file: string };

/** @param trusted whether functions of the folder may run */
export function partsOf(card: Card, trusted: boolean): readonly CardNode[] {
  return [
    ...card.files.slice(0, mostFiles).map((line): CardNode => ({ kind: "file", card, line })),
    ...card.outputs.map((line): CardNode => ({ kind: "output", card, line })),
    ...card.logs.map((line): CardNode => ({ kind: "log", card, line })),
    ...(trusted ? card.rewards.slice(0, mostFiles) : []).map((file): CardNode => ({
      kind: "reward",
      card,
      file,
    })),
  ];
}
