/** The rollouts of one step as a text a person reads: grouped by task, with places for folding, outline and colour. Pure. */
import { formatChange, formatCount, formatNumber, plural } from "../../../shared/lib/format.ts";
import { branchText } from "../../../shared/rollouts/branchText.ts";
import { helpText } from "../../../shared/rollouts/helpText.ts";
import { bracketed, brackets, isMarked, responseParts } from "../../../shared/rollouts/responseParts.ts";
import { groupVerdict, teaches } from "./verdict.ts";
import type { GroupRow } from "../../../shared/protocol/protocol.ts";
import { fromWire, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import {
  Writer,
  finishText,
  lineEnd,
  oneLine,
  rewardSign,
  rewardText,
  signOf,
  writeCriteria,
  writeText,
  type Heading,
  type Written,
} from "./writer.ts";

/** Lines [from, to] that are about one rollout; its number is on the first, at `at`. */
export interface RolloutLines {
  readonly from: number;
  readonly to: number;
  readonly at: readonly [from: number, to: number];
  readonly step: number;
  readonly group: string;
  readonly index: number;
}
export interface RolloutDocument extends Written {
  readonly rollouts: readonly RolloutLines[];
}
interface StepRecord {
  readonly name: string;
  readonly step: number;
  readonly groups: readonly GroupRow[];
  readonly rollouts: readonly RolloutRow[];
  /** How many the step has, of which `rollouts` may be the first. */
  readonly total: number;
  /** The condition that they satisfy. */
  readonly where?: string;
}

export function rolloutDocument(record: StepRecord): RolloutDocument {
  const writer = new Writer();
  const groups = grouped(record);
  const trained = groups.filter(
    ({ group, rollouts }) => group?.admitted === true && teaches(rollouts, group.size),
  ).length;
  writer.write(`${record.name} · step ${record.step}`);
  writer.write(
    `${plural(groups.length, "group")}, ${plural(record.total, "rollout")}${trained === 0 ? "" : `, ${plural(trained, "group")} in training`}`,
  );
  if (record.where !== undefined && record.where !== "") writer.write(`Those with ${record.where}`);
  if (record.rollouts.length < record.total)
    writer.write(
      `The first ${formatCount(record.rollouts.length)} are shown; \`gradus rollouts\` prints them all.`,
    );
  if (groups.length === 0 && (record.where ?? "") === "")
    writer.write("\nThis step has no rollouts: warm-up steps train on reference answers and generate none.");
  const layout = layoutOf(record.rollouts);
  const lines: RolloutLines[] = [];
  const headings = groups.map((entry) => writeGroup(writer, entry, layout, lines));
  return {
    ...writer.written(headings),
    rollouts: lines,
  };
}

/** Characters of each column, so that numbers of one kind are below each other. */
interface Layout {
  readonly index: number;
  readonly reward: number;
  readonly advantage: number;
  readonly finish: number;
  /** By term, in the order in which the step first has them. */
  readonly terms: ReadonlyMap<string, number>;
}

const rewardOf = ({ reward = null }: RolloutRow): string => formatNumber(fromWire(reward));
const advantageOf = ({ advantage = null }: RolloutRow): string =>
  Number.isNaN(fromWire(advantage)) ? "" : formatChange(fromWire(advantage));

function layoutOf(rollouts: readonly RolloutRow[]): Layout {
  const widest = (text: (rollout: RolloutRow) => string): number =>
    rollouts.reduce((most, rollout) => Math.max(most, text(rollout).length), 0);
  const terms = new Map<string, number>();
  for (const rollout of rollouts)
    for (const { term, text } of termTexts(rollout))
      terms.set(term, Math.max(terms.get(term) ?? 0, text.length));
  return {
    index: widest(({ index }) => String(index)),
    reward: widest(rewardOf),
    advantage: widest(advantageOf),
    finish: widest(finishText),
    terms,
  };
}

interface Grouped {
  readonly id: string;
  readonly group: GroupRow | undefined;
  readonly rollouts: readonly RolloutRow[];
}

/** In the order of the first rollout of each group. */
function grouped({ groups, rollouts }: StepRecord): readonly Grouped[] {
  const known = new Map(groups.map((group) => [group.group, group]));
  const byGroup = new Map<string, RolloutRow[]>();
  for (const rollout of rollouts)
    byGroup.set(rollout.group, [...(byGroup.get(rollout.group) ?? []), rollout]);
  return [...byGroup].map(([id, rows]) => ({
    id,
    group: known.get(id),
    rollouts: [...rows].sort((a, b) => a.index - b.index),
  }));
}

function writeGroup(
  writer: Writer,
  { id, group, rollouts }: Grouped,
  layout: Layout,
  lines: RolloutLines[],
): Heading {
  writer.write();
  const start = writer.line;
  const first = rollouts[0];
  const task = group?.task ?? first?.task?.id ?? id;
  const arm = group?.arm ?? first?.task?.arm;
  const passed =
    group === undefined ? plural(rollouts.length, "rollout") : `${group.successes} of ${group.size} right`;
  const verdict = verdictOf(group, rollouts);
  writer.write(`■ ${[task, ...(arm === undefined ? [] : [arm]), passed, verdict].join(" · ")}`);
  const prompt = first?.prompt ?? "";
  const long = prompt.split(lineEnd).length > longPrompt;
  if (first?.prompt !== undefined) writePrompt(writer, long ? beginningOf(prompt) : prompt);
  const children = rollouts.map((rollout) => {
    const heading = writeRollout(writer, rollout, layout);
    const { step, group: name, index } = rollout;
    const at = [2, 2 + "● ".length + layout.index] as const;
    lines.push({ from: heading.line, to: heading.end, at, step, group: name, index });
    return heading;
  });
  if (long) {
    writer.write("  The whole prompt:");
    writePrompt(writer, prompt);
  }
  writer.fold(start);
  return { line: start, end: writer.line - 1, name: task, detail: `${passed}, ${verdict}`, children };
}

/** A prompt of more lines comes after the answers, which are what a person came for. */
const [longPrompt, shownLines] = [12, 3];

const beginningOf = (prompt: string): string =>
  `${prompt.split(lineEnd, shownLines).join("\n")}\n… ${plural(prompt.split(lineEnd).length - shownLines, "more line")}, after the answers`;

function writePrompt(writer: Writer, prompt: string): void {
  const from = writer.line;
  writeText(writer, "  ? ", prompt);
  writer.fold(from, true);
}

function verdictOf(group: GroupRow | undefined, rollouts: readonly RolloutRow[]): string {
  const [first] = rollouts;
  if (first?.use === "evaluate") return "evaluation";
  const admitted = group?.admitted ?? first?.admitted;
  return admitted === undefined
    ? "not scored"
    : groupVerdict({ admitted, reason: group?.reason ?? null, size: group?.size }, rollouts);
}

function writeRollout(writer: Writer, rollout: RolloutRow, layout: Layout): Heading {
  const start = writer.line;
  const reward = rewardOf(rollout);
  const advantage = advantageOf(rollout);
  const finish = finishText(rollout);
  const { source = "self" } = rollout;
  writer.pieces("  ", [
    { text: `● ${String(rollout.index).padStart(layout.index)}` },
    { text: `reward ${reward.padStart(layout.reward)}` },
    ...(layout.advantage === 0
      ? []
      : advantage === ""
        ? [{ text: " ".repeat("advantage ".length + layout.advantage) }]
        : [
            {
              text: `advantage ${advantage.padStart(layout.advantage)}`,
              sign: signOf(fromWire(rollout.advantage ?? null)),
            },
          ]),
    ...(layout.finish === 0
      ? []
      : [
          {
            text: finish.padEnd(layout.finish),
            ...(finish === "" || finish === "stop" ? {} : { sign: "error" as const }),
          },
        ]),
    ...(source === "self" ? [] : [{ text: source }]),
  ]);
  if (rollout.parent !== undefined)
    writer.write(`      ${branchText(rollout.parent, isMarked(responseParts(rollout)))}`);
  if (rollout.help !== undefined)
    writer.write(`      ${helpText(rollout.help, isMarked(responseParts(rollout)))}`);
  writeTerms(writer, rollout, layout);
  writeCriteria(writer, rollout, "      ");
  writeResponse(writer, "    │ ", rollout);
  writer.fold(start);
  return {
    line: start,
    end: writer.line - 1,
    name: `${rollout.index} · reward ${reward}`,
    detail: advantage === "" ? "" : `advantage ${advantage}`,
    children: [],
  };
}

/** `correct 1 × 0.7`: a term's value, times the weight that it had in the step where that is not 1. */
function termTexts({ rewards = {}, errors = {}, weights = {} }: RolloutRow) {
  const times = (term: string): string => {
    const weight = weights[term];
    return weight === undefined || Number(weight) === 1 ? "" : ` × ${formatNumber(Number(weight))}`;
  };
  return [
    ...Object.entries(rewards).map(([term, value]) => ({
      term,
      text: `${term} ${rewardText(value)}${value === null ? "" : times(term)}`,
      sign: rewardSign(value),
    })),
    ...Object.entries(errors).map(([term, message]) => ({
      term: `${term} failed`,
      text: `${term} failed: ${oneLine(message)}`,
      sign: "error" as const,
    })),
  ];
}

/** A term is below itself, whatever the other rollouts lack. */
function writeTerms(writer: Writer, rollout: RolloutRow, { terms }: Layout): void {
  const own = new Map(termTexts(rollout).map((one) => [one.term, one]));
  if (own.size === 0) return;
  const last = Math.max(...[...terms.keys()].map((term, i) => (own.has(term) ? i : -1)));
  writer.pieces(
    "      ",
    [...terms].slice(0, last + 1).flatMap(([term, width]) => {
      const found = own.get(term);
      if (found !== undefined) return [{ ...found, text: found.text.padEnd(width) }];
      // A failure is a sentence: no room is kept for another rollout's.
      return term.endsWith(" failed") ? [] : [{ text: " ".repeat(width) }];
    }),
  );
}

/** Of a response of more lines the rest is folded at first: a step has many of them. */
const [longResponse, shownOfResponse] = [24, 12];

/** Prefilled text and messages between attempts are put into brackets. */
function writeResponse(writer: Writer, margin: string, rollout: RolloutRow): void {
  const parts = responseParts(rollout);
  const first = writer.line;
  writeText(writer, margin, isMarked(parts) ? bracketed(parts) : (rollout.response ?? ""));
  if (writer.line - first > longResponse) writer.fold(first + shownOfResponse - 1, true);
  if (!isMarked(parts)) return;
  let inside: string | undefined;
  for (let line = first; line < writer.line; line++)
    inside = markBrackets(writer, line, margin.length, inside);
}

const closing = new Map([brackets.given, brackets.observed]);
const opening = new RegExp(`[${[...closing.keys()].join("")}]`, "g");

/** Marks what is between brackets on a line. @param close the bracket that is open from the line before, if any */
function markBrackets(
  writer: Writer,
  line: number,
  margin: number,
  close: string | undefined,
): string | undefined {
  const text = writer.lines[line]!;
  let [from, wanted] = [margin, close];
  for (;;) {
    if (wanted === undefined) {
      opening.lastIndex = from;
      const found = opening.exec(text);
      if (found === null) return undefined;
      [from, wanted] = [found.index, closing.get(found[0])!];
    }
    const end = text.indexOf(wanted, from);
    writer.marks.push({ line, from, to: end < 0 ? text.length : end + 1, sign: "given" });
    if (end < 0) return wanted;
    [from, wanted] = [end + 1, undefined];
  }
}
