/** `gradus explain --why` in a terminal: the sentences, with the numbers they speak of as bars and a table. Pure. */
import { criterionName, metMark, pointsText, signOfCriterion } from "../../../shared/rollouts/criteria.ts";
import { formatChange, formatNumber } from "../../../shared/lib/format.ts";
import { fromWire, type MaybeNumber } from "../../../shared/rollouts/rollouts.ts";
import type { Alternative, Span, TermShare, Why, WhyTopic } from "../../../shared/rollouts/why.ts";
import { alternativeTable } from "../../../shared/rollouts/whyTable.ts";
import { visibleLine } from "../../../shared/lib/visibleText.ts";
import { colours } from "./colours.ts";
import { oneLine } from "./terminal.ts";

const widest = 100;
const mostSiblings = 16;
/** Narrower bars say nothing: they are left out. */
const leastHalf = 4;

/** Lines of at most `width` columns. */
export function whyText(why: Why, width: number): string[] {
  const room = Math.max(40, Math.min(width, widest));
  return [
    `${colours.bold(`${visibleLine(why.group)} #${why.index}`)}${colours.dim(`  step ${why.step} · ${why.baseline}, ${why.scale}`)}`,
    ...section(why, "advantage", undefined, siblings(why, room), room),
    ...section(why, "terms", "What each reward term gave", shares(why, room), room),
    ...section(why, "criteria", "Criteria", criteria(why, room), room),
    ...section(why, "alternatives", "By another baseline or scale", table(why.alternatives, room), room),
    ...section(why, "tokens", "Tokens", places(why, room), room),
  ];
}

function section(
  { words }: Why,
  topic: WhyTopic,
  title: string | undefined,
  lines: readonly string[],
  width: number,
): string[] {
  const sentences = words.filter(({ about }) => about === topic);
  if (sentences.length === 0 && lines.length === 0) return [];
  return [
    "",
    ...(title === undefined ? [] : [colours.bold(title)]),
    ...sentences.flatMap(({ text }) => wrapped(text, width - 2).map((line) => `  ${line}`)),
    ...(lines.length > 0 && sentences.length > 0 ? [""] : []),
    ...lines,
  ];
}

/** At spaces; a word that is longer than the line is cut nowhere. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of visibleLine(text.replace(/\s+/g, " ").trim()).split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

const number = (value: MaybeNumber): string => (value === null ? "–" : formatNumber(fromWire(value)));
const change = (value: MaybeNumber): string => (value === null ? "–" : formatChange(fromWire(value)));
const signed = (text: string, value: number): string =>
  value > 0 ? colours.green(text) : value < 0 ? colours.red(text) : colours.dim(text);

/** A bar from a line in the middle, to the left for negative values; `share` is −1 … 1. */
function swing(share: number, half: number): string {
  if (half < leastHalf) return "";
  const cells = Math.round(Math.min(1, Math.abs(share)) * half);
  const left = share < 0 ? "█".repeat(cells).padStart(half) : " ".repeat(half);
  const right = share > 0 ? "█".repeat(cells) : "";
  return `${signed(left, share)}${colours.dim("│")}${signed(right, share)}`;
}

const columnWidth = (texts: readonly string[]): number => Math.max(0, ...texts.map((text) => text.length));

function siblings({ siblings: all, index }: Why, width: number): string[] {
  const near = nearest(all, index);
  const largest = Math.max(
    0,
    ...near.map(({ advantage }) => Math.abs(fromWire(advantage))).filter(Number.isFinite),
  );
  const names = columnWidth(near.map((one) => `#${one.index}`));
  const rewards = columnWidth(near.map(({ reward }) => number(reward)));
  const advantages = columnWidth(near.map(({ advantage }) => change(advantage)));
  const half = Math.min(16, Math.floor((width - names - rewards - advantages - 31) / 2));
  const lines = near.map(({ index: own, reward, advantage, note }) => {
    const value = fromWire(advantage);
    const mark = own === index ? colours.cyan("▸") : " ";
    const begin = `${mark} ${`#${own}`.padEnd(names)}  reward ${number(reward).padStart(rewards)}`;
    if (note !== null) return `  ${begin}  ${colours.yellow(oneLine(note, width - names - rewards - 18))}`;
    const share = largest === 0 || !Number.isFinite(value) ? 0 : value / largest;
    const text = `  ${begin}  advantage ${signed(change(advantage).padStart(advantages), value)}  ${swing(share, half)}`;
    return text.trimEnd();
  });
  return near.length === all.length
    ? lines
    : [...lines, colours.dim(`    and ${all.length - near.length} more in its group`)];
}

/** Those around the explained one by reward, in the order of the group. */
function nearest(all: Why["siblings"], index: number): Why["siblings"] {
  if (all.length <= mostSiblings) return all;
  const ranked = [...all].sort((one, other) => fromWire(one.reward) - fromWire(other.reward));
  const own = ranked.findIndex((one) => one.index === index);
  const kept = new Set<number>(
    ranked
      .map((one, rank) => ({ one, far: Math.abs(rank - own) }))
      .sort((one, other) => one.far - other.far)
      .slice(0, mostSiblings - 2)
      .map(({ one }) => one.index),
  );
  for (const end of [ranked[0], ranked.at(-1)]) if (end !== undefined) kept.add(end.index);
  return all.filter((one) => kept.has(one.index));
}

function shares({ shares: found, advantage }: Why, width: number): string[] {
  if (found.kind === "none" || found.terms.length === 0) return [];
  const rest: TermShare = {
    term: "without a value of any term",
    weight: 1,
    value: null,
    share: found.rest,
    note: "",
  };
  const all = [...found.terms, ...(Math.abs(found.rest) > 1e-12 ? [rest] : [])];
  const largest = Math.max(...all.map(({ share }) => Math.abs(share)));
  const names = Math.min(28, columnWidth(all.map(({ term }) => term)));
  const valueTexts = all.map(valueText);
  const valueWidth = Math.min(30, columnWidth(valueTexts));
  const values = columnWidth([...all.map(({ share }) => formatChange(share)), change(advantage)]);
  const half = Math.min(16, Math.floor((width - names - valueWidth - values - 12) / 2));
  const lines = all.map(({ term, share }, i) =>
    `    ${oneLine(term, names).padEnd(names)}  ${colours.dim(oneLine(valueTexts[i]!, valueWidth).padEnd(valueWidth))}  ${signed(formatChange(share).padStart(values), share)}  ${swing(largest === 0 ? 0 : share / largest, half)}`.trimEnd(),
  );
  const sum = `    ${"sum".padEnd(names + valueWidth + 2)}  ${change(advantage).padStart(values)}`;
  return [...lines, colours.bold(sum)];
}

/** Whether the rollout meets each, and how many of its group do. */
function criteria({ criteria: terms = [], siblings: all, index }: Why, width: number): string[] {
  const own = all.findIndex((one) => one.index === index);
  const criteria = terms.flatMap((term) => term.criteria);
  const points = columnWidth(criteria.map(pointsText));
  const marks = columnWidth(criteria.map(({ met }) => metMark(met[own] ?? null)));
  const names = Math.min(columnWidth(criteria.map(criterionName)), Math.max(20, width - points - marks - 30));
  return terms.flatMap(({ term, criteria: list }) => [
    ...(terms.length > 1 ? [colours.dim(`    ${visibleLine(term)}`)] : []),
    ...list.map((one) => {
      const met = one.met[own] ?? null;
      const known = one.met.filter((other) => other !== null);
      const share = `${known.filter((other) => other >= 1).length} of ${known.length} of the group`;
      return `    ${signed(metMark(met).padStart(marks), signOfCriterion({ ...one, met }))} ${pointsText(one).padStart(points)}  ${oneLine(criterionName(one), names).padEnd(names)}  ${colours.dim(share)}`;
    }),
  ]);
}

function valueText({ weight, value, note }: TermShare): string {
  if (note !== null) return value === null ? note : `${number(value)}, ${note}`;
  return weight === 1 ? number(value) : `${number(value)} × ${formatNumber(weight)}`;
}

/** Baselines down, scales across. */
function table(all: readonly Alternative[], width: number): string[] {
  const { scales: every, rows, others, missing } = alternativeTable(all);
  if (rows.length === 0) return [];
  // The config's own comes first: a narrow terminal goes without the last ones.
  const scales = every.slice(0, Math.max(1, Math.floor((width - 17) / 12)));
  const cell = (text: string, scale: string): string => text.padStart(Math.max(8, scale.length));
  const cells = scales.reduce((sum, scale) => sum + 3 + Math.max(8, scale.length), 0);
  const labels = rows.map(({ baselines }) => oneLine(baselines.join(", "), Math.max(12, width - cells - 5)));
  const names = columnWidth(labels);
  const head = `    ${" ".repeat(names)}${scales.map((scale) => `   ${colours.dim(cell(scale, scale))}`).join("")}`;
  const lines = rows.map(({ cells: found }, i) => {
    const values = found.slice(0, scales.length).map(({ advantage, chosen }, column) => {
      const text = cell(change(advantage), scales[column]!);
      return chosen
        ? ` ${colours.cyan("▸")} ${colours.bold(text)}`
        : `   ${signed(text, fromWire(advantage))}`;
    });
    return `    ${labels[i]!.padEnd(names)}${values.join("")}`;
  });
  const rest = others.map(({ scale, advantage }) => `${scale} ${change(advantage)}`).join(", ");
  const notes = [
    ...(rest === "" ? [] : [`Other scales with the config's baseline: ${rest}.`]),
    ...(missing.length === 0 ? [] : [`The rollouts lack what these need: ${missing.join(", ")}.`]),
  ];
  return [
    head,
    ...lines,
    ...notes.flatMap((note) => wrapped(note, width - 4).map((line) => colours.dim(`    ${line}`))),
  ];
}

const span = ([start, end]: Span): string => (end - start === 1 ? String(start) : `${start}–${end - 1}`);

function places({ tokens }: Why, width: number): string[] {
  const names = columnWidth(tokens.rules.map(({ rule }) => rule));
  return tokens.rules.map(({ rule, spans }) => {
    const text = oneLine(spans.map(span).join(", "), width - names - 8);
    return `    ${rule.padEnd(names)}  ${colours.dim(text)}`;
  });
}
