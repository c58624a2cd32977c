/** The rollouts of one step as a text a person reads: grouped by task, with places for folding, outline and colour. Pure. */
import { formatChange, formatNumber, plural } from "../../../shared/lib/format.ts";
import { criterionText, metCount, signOfCriterion } from "../../../shared/rollouts/criteria.ts";
import { branchText } from "../../../shared/rollouts/branchText.ts";
import { helpText } from "../../../shared/rollouts/helpText.ts";
import { bracketed, brackets, isMarked, responseParts } from "../../../shared/rollouts/responseParts.ts";
import { groupVerdict, teaches } from "./verdict.ts";
import type { GroupRow } from "../../../shared/protocol/protocol.ts";
import { fromWire, type RolloutRow, type WireReward } from "../../../shared/rollouts/rollouts.ts";

export interface Fold {
  readonly from: number;
  readonly to: number;
}
export interface Heading {
  readonly line: number;
  readonly end: number;
  readonly name: string;
  readonly detail: string;
  readonly children: readonly Heading[];
}
/** A piece of a line whose sign is worth a colour. */
export interface Mark {
  readonly line: number;
  readonly from: number;
  readonly to: number;
  readonly sign: "positive" | "negative" | "error" | "given";
}
export interface RolloutDocument {
  readonly text: string;
  readonly folds: readonly Fold[];
  readonly headings: readonly Heading[];
  readonly marks: readonly Mark[];
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

class Writer {
  readonly lines: string[] = [];
  readonly folds: Fold[] = [];
  readonly marks: Mark[] = [];

  get line(): number {
    return this.lines.length;
  }
  write(text = ""): void {
    this.lines.push(text);
  }
  /** Writes pieces in a row; a piece with a sign is marked. */
  pieces(
    indent: string,
    parts: readonly { readonly text: string; readonly sign?: Mark["sign"] | undefined }[],
    gap = "   ",
  ): void {
    let text = indent;
    parts.forEach((part, i) => {
      if (i > 0) text += gap;
      if (part.sign !== undefined)
        this.marks.push({
          line: this.line,
          from: text.length,
          to: text.length + part.text.length,
          sign: part.sign,
        });
      text += part.text;
    });
    this.write(text);
  }
  fold(from: number): void {
    if (this.line - 1 > from) this.folds.push({ from, to: this.line - 1 });
  }
}

const signOf = (value: number): Mark["sign"] | undefined =>
  value > 0 ? "positive" : value < 0 ? "negative" : undefined;

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
      `The first ${record.rollouts.length.toLocaleString("en-US")} are shown; \`gradus rollouts\` prints them all.`,
    );
  if (groups.length === 0 && (record.where ?? "") === "")
    writer.write("\nThis step has no rollouts: warm-up steps train on reference answers and generate none.");
  const headings = groups.map((entry) => writeGroup(writer, entry));
  return { text: `${writer.lines.join("\n")}\n`, folds: writer.folds, headings, marks: writer.marks };
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

function writeGroup(writer: Writer, { id, group, rollouts }: Grouped): Heading {
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
  const children = rollouts.map((rollout) => writeRollout(writer, rollout));
  if (long) {
    writer.write("  The whole prompt:");
    writePrompt(writer, prompt);
  }
  writer.fold(start);
  return { line: start, end: writer.line - 1, name: task, detail: `${passed}, ${verdict}`, children };
}

const lineEnd = /\r\n|\r|\n/;
/** A prompt of more lines comes after the answers, which are what a person came for. */
const [longPrompt, shownLines] = [12, 3];

const beginningOf = (prompt: string): string =>
  `${prompt.split(lineEnd, shownLines).join("\n")}\n… ${plural(prompt.split(lineEnd).length - shownLines, "more line")}, after the answers`;

function writePrompt(writer: Writer, prompt: string): void {
  const from = writer.line;
  writeText(writer, "  ? ", prompt);
  writer.fold(from);
}

function verdictOf(group: GroupRow | undefined, rollouts: readonly RolloutRow[]): string {
  const [first] = rollouts;
  if (first?.use === "evaluate") return "evaluation";
  const admitted = group?.admitted ?? first?.admitted;
  return admitted === undefined
    ? "not scored"
    : groupVerdict({ admitted, reason: group?.reason ?? null, size: group?.size }, rollouts);
}

function writeRollout(writer: Writer, rollout: RolloutRow): Heading {
  const start = writer.line;
  const reward = fromWire(rollout.reward ?? null);
  const advantage = fromWire(rollout.advantage ?? null);
  const finish = rollout.finish === "length" ? "truncated" : (rollout.finish ?? "");
  writer.pieces("  ", [
    { text: `● ${rollout.index}` },
    { text: `reward ${formatNumber(reward)}` },
    ...(Number.isNaN(advantage)
      ? []
      : [{ text: `advantage ${formatChange(advantage)}`, sign: signOf(advantage) }]),
    ...(finish === "" ? [] : [{ text: finish, ...(finish === "stop" ? {} : { sign: "error" as const }) }]),
    ...(rollout.source === undefined || rollout.source === "self" ? [] : [{ text: rollout.source }]),
  ]);
  if (rollout.parent !== undefined)
    writer.write(`      ${branchText(rollout.parent, isMarked(responseParts(rollout)))}`);
  if (rollout.help !== undefined)
    writer.write(`      ${helpText(rollout.help, isMarked(responseParts(rollout)))}`);
  writeTerms(writer, rollout);
  writeCriteria(writer, rollout);
  writeResponse(writer, "    │ ", rollout);
  writer.fold(start);
  const detail = Number.isNaN(advantage) ? "" : `advantage ${formatChange(advantage)}`;
  return {
    line: start,
    end: writer.line - 1,
    name: `${rollout.index} · reward ${formatNumber(reward)}`,
    detail,
    children: [],
  };
}

/** `correct 1 × 0.7`: a term's value, times the weight that it had in the step where that is not 1. */
function writeTerms(writer: Writer, { rewards = {}, errors = {}, weights = {} }: RolloutRow): void {
  const times = (term: string): string => {
    const weight = weights[term];
    return weight === undefined || Number(weight) === 1 ? "" : ` × ${formatNumber(Number(weight))}`;
  };
  const terms = Object.entries(rewards).map(([term, value]) => ({
    text: `${term} ${rewardText(value)}${value === null ? "" : times(term)}`,
    sign: rewardSign(value),
  }));
  const failed = Object.entries(errors).map(([term, message]) => ({
    text: `${term} failed: ${oneLine(message)}`,
    sign: "error" as const,
  }));
  if (terms.length + failed.length > 0) writer.pieces("      ", [...terms, ...failed]);
}

/** Folded to how many of them are met. */
function writeCriteria(writer: Writer, { details = {} }: RolloutRow): void {
  for (const [term, { criteria }] of Object.entries(details)) {
    const from = writer.line;
    writer.write(`      ${term}: ${metCount(criteria)}`);
    for (const criterion of criteria) {
      const sign = signOfCriterion(criterion);
      writer.pieces("        ", [
        {
          text: oneLine(criterionText(criterion)),
          ...(sign !== 0 && { sign: sign > 0 ? ("positive" as const) : ("negative" as const) }),
        },
      ]);
    }
    writer.fold(from);
  }
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

function rewardText(value: WireReward): string {
  if (value === null) return "n/a";
  if (typeof value !== "object") return formatNumber(Number(value));
  const finite = value.values.map(fromWire).filter((each) => Number.isFinite(each));
  const sum = finite.reduce((a, b) => a + b, 0);
  return `${formatNumber(sum)} over ${plural(value.values.length, value.level)}`;
}

const rewardSign = (value: WireReward): Mark["sign"] | undefined =>
  value !== null && typeof value !== "object" && Number(value) < 0 ? "negative" : undefined;

/** Prefilled text and messages between attempts are put into brackets. */
function writeResponse(writer: Writer, margin: string, rollout: RolloutRow): void {
  const parts = responseParts(rollout);
  if (!isMarked(parts)) return writeText(writer, margin, rollout.response ?? "");
  const first = writer.line;
  writeText(writer, margin, bracketed(parts));
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

/** Line ends are made visible: whether a response ends in one is often what a reward turns on. */
function writeText(writer: Writer, margin: string, text: string): void {
  const lines = text.split(lineEnd);
  if (text === "") return writer.write(`${margin}(empty)`);
  lines.forEach((line, i) => {
    const last = i === lines.length - 1;
    if (last && line === "") return;
    writer.write(`${margin}${line}${last ? "" : "⏎"}`);
  });
}
