/** What an edit would have changed, in words: labels at the end of lines, and Markdown for the labels. */
import { formatChange, formatCount, formatFraction, formatNumber, plural } from "../lib/format.ts";
import type { BeforeNow, ChangedRollout, Rescored, ScoredSteps, Sweep, SweepPoint } from "./rescore.ts";
import { fromWire, type MaybeNumber } from "./rollouts.ts";
import { plainMarkdown, visibleLine } from "../lib/visibleText.ts";

const number = (value: MaybeNumber): string => formatNumber(fromWire(value));
const fromTo = ({ before, now }: BeforeNow): string => `${number(before)} → ${number(now)}`;

/** Everything in one line: what a person decides by. */
export function changeLabel({ change }: Rescored): string {
  const { mean, failed = 0, rankFlips, signFlips, gained, lost } = change;
  const groups = [gained > 0 ? `+${gained}` : "", lost > 0 ? `−${lost}` : ""].filter((part) => part !== "");
  return [
    `reward ${fromTo(mean)}`,
    ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
    `${plural(rankFlips, "rank")}, ${plural(signFlips, "sign")} flipped`,
    ...(groups.length === 0 ? [] : [`${groups.join(" ")} groups`]),
  ].join(" · ");
}

/** Over what: "64 rollouts of seen, steps 30 to 33". */
export const overLabel = (rescored: Rescored): string =>
  `${plural(rescored.change.rollouts, "rollout")} of ${rescored.name}, ${stepsText(rescored)}`;

/** As much of it as fits after a line of any language, where editors cut hints off at 43 characters. */
export function shortLabel({ change: { mean, failed = 0, signFlips } }: Rescored): string {
  if (failed > 0) return `reward ${fromTo(mean)} · ${formatCount(failed)} failed`;
  const flips = signFlips === 0 ? "no sign flips" : `${plural(signFlips, "sign")} flip`;
  return `reward ${fromTo(mean)} · ${flips}`;
}

type RunPart = ScoredSteps & { readonly rollouts: number };

const stepsText = ({ from, to }: Pick<ScoredSteps, "from" | "to">): string =>
  from === to ? `step ${to}` : `steps ${from} to ${to}`;

const isSample = ({ steps, of }: Pick<Sweep, "steps" | "of">): boolean =>
  steps !== undefined && of !== undefined && steps < of;

/** Which steps a sweep looked at. */
export const sweptText = (sweep: Pick<Sweep, "steps" | "of" | "from" | "to">): string =>
  isSample(sweep)
    ? `${sweep.steps} of ${plural(sweep.of ?? 0, "step")}, spread over steps ${sweep.from} to ${sweep.to}`
    : stepsText(sweep);

/** Which run's rollouts, of which steps, and how many. */
export function runText(over: RunPart): string {
  const { name, run, steps, of, rollouts } = over;
  const part = steps < of ? ` (${steps} of ${of} with rollouts)` : "";
  return `${name}, run ${run}, ${stepsText(over)}${part}, ${plural(rollouts, "rollout")}`;
}
export const coverage = (rescored: Rescored): string =>
  runText({ ...rescored, rollouts: rescored.change.rollouts });

export function changeText(rescored: Rescored): string {
  const { change, most, notes, milliseconds } = rescored;
  const { rollouts, groups, mean, rankFlips, pairs, signFlips, signed, gained, lost, terms } = change;
  const share = (part: number, all: number): string => (all === 0 ? "–" : formatFraction(part / all, 1));
  return [
    `**This edit, over the last run's rollouts** (${coverage({ ...rescored, name: plainMarkdown(rescored.name) })})`,
    [
      "| | was | is | |",
      "|---|---:|---:|---|",
      `| reward | ${number(mean.before)} | ${number(mean.now)} | |`,
      ...terms.map(
        ({ term, before, now, changed, errors }) =>
          `| \`${cell(term)}\` | ${number(before)} | ${number(now)} | ${errors > 0 ? plural(errors, "error") : changed > 0 ? "" : "as recorded"} |`,
      ),
    ].join("\n"),
    `${formatCount(rankFlips)} of ${plural(pairs, "pair")} of siblings swap ranks (${share(rankFlips, pairs)}), ${formatCount(signFlips)} of ${plural(signed, "advantage")} change sign (${share(signFlips, signed)}), ${gained} of ${plural(groups, "group")} gain a learning signal, ${lost} lose it.`,
    ...(most.length === 0 ? [] : [`Changed most:\n\n${most.map(rolloutLine).join("\n")}`]),
    ...notes.map(sentence),
    `${plural(rollouts, "rollout")} scored in ${Math.max(1, Math.round(milliseconds))} ms`,
  ].join("\n\n");
}

/** A sentence of ours, with names of terms in backticks: neither a link nor HTML. */
const sentence = (text: string): string => visibleLine(text).replace(/[[<]/g, "\\$&");
/** Within backticks: no backtick ends them, no bar a table's cell. */
const code = (text: string): string => visibleLine(text).replaceAll("`", "ˋ");
const cell = (text: string): string => code(text).replaceAll("|", "\\|");

function rolloutLine({ step, group, index, advantage, reward, response }: ChangedRollout): string {
  const said = code(response.replace(/\s+/g, " ").trim()).slice(0, 60);
  return `- ${step}/${plainMarkdown(group).replaceAll("\\-", "-")}#${index}: advantage ${fromTo(advantage)}, reward ${fromTo(reward)} \`${said === "" ? "(empty)" : said}\``;
}

const bars = "▁▂▃▄▅▆▇█";
/** Parts of one as blocks. */
export const blocksOf = (parts: readonly number[]): string =>
  parts.map((part) => bars[Math.round(Math.min(1, Math.max(0, part)) * (bars.length - 1))] ?? "").join("");

const flips = ({ signFlips }: SweepPoint, signed: number): number => (signed === 0 ? 0 : signFlips / signed);

/** A sentence where no weight would change anything. */
export const stillText = (sweep: Pick<Sweep, "points" | "steps" | "of">): string | undefined =>
  sweep.points.every(({ share, signFlips, rankFlips }) => share === 0 && signFlips === 0 && rankFlips === 0)
    ? `It gives all rollouts of a group the same value in ${isSample(sweep) ? `the ${plural(sweep.steps ?? 0, "step")} sampled` : "all steps"}, so its weight changes no advantage.`
    : undefined;

/** @param picture whether the editor draws images in Markdown */
export function sweepText(sweep: Sweep, picture: boolean): string {
  const { run, term, points, signed, weight, rollouts, notes } = sweep;
  const most = Math.max(...points.map((point) => flips(point, signed)));
  const image = `![weight of ${plainMarkdown(term)}](data:image/svg+xml;base64,${Buffer.from(sweep.picture).toString("base64")})`;
  const title = `**The weight of \`${code(term)}\`** over ${plural(rollouts, "rollout")} of run ${plainMarkdown(run)}, ${sweptText(sweep)}`;
  const still = stillText(sweep);
  if (still !== undefined) return [title, still, ...notes.map(sentence)].join("\n\n");
  return [
    title,
    ...(picture ? [image] : []),
    `share of the spread \`${blocksOf(points.map(({ share }) => share))}\` from ${formatNumber(points[0]?.weight)} to ${formatNumber(points.at(-1)?.weight)}, ${formatFraction(points.find((point) => point.weight === weight)?.share)} at ${formatNumber(weight)}`,
    `signs flipped \`${blocksOf(points.map((point) => flips(point, signed)))}\` up to ${formatFraction(most, 1)}`,
    ...notes.map(sentence),
  ].join("\n\n");
}

/** The change of one term, for its own line. */
export function termLabel(rescored: Rescored, term: string): string | undefined {
  const change = rescored.change.terms.find((each) => each.term === term);
  if (change === undefined || (change.changed === 0 && change.errors === 0)) return undefined;
  const moved = fromWire(change.now) - fromWire(change.before);
  const errors = change.errors > 0 ? `, ${plural(change.errors, "error")}` : "";
  return `${term} ${fromTo(change)}${Number.isFinite(moved) ? ` (${formatChange(moved)})` : ""}${errors}`;
}
