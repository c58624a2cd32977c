/** Why a rollout has its advantage, as Markdown that fits a hover. Pure. */
import { formatChange, formatNumber } from "../../../shared/lib/format.ts";
import { fromWire } from "../../../shared/rollouts/rollouts.ts";
import type { TermShares, Why } from "../../../shared/rollouts/why.ts";
import { alternativeTable } from "../../../shared/rollouts/whyTable.ts";

/** Text that Markdown leaves as it is. */
export const plainMarkdown = (text: string): string =>
  text.replace(/[\\`*_{}[\]()#+\-.!|<>~&]/g, (character) => `\\${character}`);

const change = (value: Parameters<typeof fromWire>[0]): string => formatChange(fromWire(value));

/** The sentences, what each term gave, and what other baselines and scales would have given. */
export function whyMarkdown(why: Why): string {
  const words = why.words
    .filter(({ about }) => about === "advantage" || about === "terms")
    .map(({ text }) => plainMarkdown(text));
  return [...words, termTable(why.shares), alternatives(why)].filter((part) => part !== "").join("\n\n");
}

function termTable(shares: TermShares): string {
  if (shares.kind === "none" || shares.terms.length === 0) return "";
  const rows = shares.terms.map(({ term, weight, value, share }) => [
    plainMarkdown(term),
    formatNumber(fromWire(value)),
    `× ${formatNumber(weight)}`,
    formatChange(share),
  ]);
  return table(["term", "value", "weight", "part of the advantage"], rows);
}

/** A hover has room for so many rows, and names in a row; the panel has them all. */
const [mostRows, mostNames] = [4, 3];

function alternatives({ alternatives: all }: Why): string {
  const { scales, rows } = alternativeTable(all);
  if (rows.length === 0) return "";
  const isOwn = ({ cells }: (typeof rows)[number]): boolean => cells.some(({ chosen }) => chosen);
  const first = [...rows.filter(isOwn), ...rows.filter((one) => !isOwn(one))].slice(0, mostRows);
  return table(
    ["advantage with baseline", ...scales.map((scale) => `scale ${plainMarkdown(scale)}`)],
    first.map(({ baselines, cells }) => [
      named(baselines),
      ...cells.map(({ advantage, chosen }) => (chosen ? `**${change(advantage)}**` : change(advantage))),
    ]),
  );
}

const named = (baselines: readonly string[]): string =>
  [
    ...baselines.slice(0, mostNames).map(plainMarkdown),
    ...(baselines.length > mostNames ? [`${baselines.length - mostNames} more`] : []),
  ].join(", ");

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), row(head.map((_, i) => (i === 0 ? ":--" : "--:"))), ...rows.map(row)].join("\n");
