/** One rollout as a text a person reads: what it earned, its prompt, its response turn by turn. Pure. */
import { formatChange, formatNumber, plural } from "../../../../shared/lib/format.ts";
import { branchText } from "../../../../shared/rollouts/branchText.ts";
import { helpText } from "../../../../shared/rollouts/helpText.ts";
import { fromWire, type RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import type { GroupRow } from "../../../../shared/protocol/protocol.ts";
import {
  Writer,
  finishText,
  oneLine,
  rewardSign,
  rewardText,
  signOf,
  writeCriteria,
  writeText,
  type Heading,
  type Mark,
  type Written,
  type TextLine,
} from "../writer.ts";
import { groupVerdict } from "../verdict.ts";
import { sectionsOf } from "./sections.ts";
import { spokenOf, type Spoken } from "./spoken.ts";

/** A piece of a line that leads to another rollout of the group. */
interface SiblingLink {
  readonly line: number;
  readonly from: number;
  readonly to: number;
  readonly index: number;
}
export interface OneDocument extends Written {
  readonly links: readonly SiblingLink[];
  /** Where terms with a value are named. */
  readonly terms: ReadonlyMap<string, Omit<Mark, "sign">>;
  /** Where the lines of the response are, in its order. */
  readonly response: readonly TextLine[];
  /** The first line that is not about what it earned. */
  readonly body: number;
}
export interface OneRecord {
  readonly name: string;
  readonly rollout: RolloutRow;
  readonly group?: GroupRow | undefined;
  /** Of its group, with itself, in the order of their numbers. */
  readonly siblings: readonly RolloutRow[];
}

export function oneDocument({ name, rollout, group, siblings }: OneRecord): OneDocument {
  const writer = new Writer();
  const place = [
    rollout.task?.id ?? rollout.group,
    ...(rollout.task?.arm === undefined ? [] : [rollout.task.arm]),
  ];
  writer.write(`${name} · step ${rollout.step} · ${place.join(" · ")} · rollout ${rollout.index}`, "heading");
  writeHead(writer, rollout, group, siblings);
  const terms = writeTerms(writer, rollout);
  writeCriteria(writer, rollout, "  ");
  for (const text of notesOf(rollout)) writer.write(`  ${text}`);
  const links = writeSiblings(writer, rollout, siblings);
  const body = writer.line;
  const prompt = writePrompt(writer, rollout.prompt);
  const { heading, lines } = writeResponse(writer, rollout);
  return {
    ...writer.written([...prompt, heading]),
    links,
    terms,
    response: lines,
    body,
  };
}

function writeHead(
  writer: Writer,
  rollout: RolloutRow,
  group: GroupRow | undefined,
  siblings: readonly RolloutRow[],
): void {
  const { reward = null, advantage = null, admitted, use, source = "self" } = rollout;
  const finish = finishText(rollout);
  const gained = fromWire(advantage);
  const verdict =
    use === "evaluate"
      ? "evaluation"
      : admitted === undefined
        ? undefined
        : groupVerdict({ admitted, reason: group?.reason ?? null, size: group?.size }, siblings);
  writer.pieces("", [
    { text: `reward ${formatNumber(fromWire(reward))}` },
    ...(Number.isNaN(gained) ? [] : [{ text: `advantage ${formatChange(gained)}`, sign: signOf(gained) }]),
    ...(finish === "" ? [] : [{ text: finish, ...(finish === "stop" ? {} : { sign: "error" as const }) }]),
    ...(source === "self" ? [] : [{ text: source }]),
    ...(verdict === undefined ? [] : [{ text: verdict }]),
  ]);
}

/** `correct  1 × 0.7 = 0.7`, a line a term. */
function writeTerms(
  writer: Writer,
  { rewards = {}, errors = {}, weights = {} }: RolloutRow,
): ReadonlyMap<string, Omit<Mark, "sign">> {
  const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(({ length }) => length));
  const names = widest([...Object.keys(rewards), ...Object.keys(errors)]);
  const single = Object.values(rewards).filter((value) => typeof value !== "object");
  const numbers = widest(single.map(rewardText));
  const places = new Map<string, Omit<Mark, "sign">>();
  for (const [term, value] of Object.entries(rewards)) {
    places.set(term, { line: writer.line, from: 2, to: 2 + term.length });
    const text = rewardText(value).padStart(numbers);
    const weight = Number(weights[term] ?? 1);
    const product = typeof value === "object" ? "" : ` = ${formatNumber(Number(value) * weight)}`;
    const times = { text: `× ${formatNumber(weight)}${product}`, sign: "quiet" as const };
    writer.pieces(
      "  ",
      [{ text: term.padEnd(names) }, { text, sign: rewardSign(value) }, ...(weight === 1 ? [] : [times])],
      "  ",
    );
  }
  for (const [term, message] of Object.entries(errors))
    writer.pieces(
      "  ",
      [{ text: term.padEnd(names) }, { text: `failed: ${oneLine(message)}`, sign: "error" }],
      "  ",
    );
  return places;
}

const notesOf = (rollout: RolloutRow): string[] => [
  ...(rollout.parent === undefined ? [] : [branchText(rollout.parent, true)]),
  ...(rollout.help === undefined ? [] : [helpText(rollout.help, true)]),
];

/** Characters after which the next sibling goes to a line of its own: a diff editor has two of them side by side. */
const widestLine = 56;

/** The group's rewards, each of which leads to its rollout. The text is the same for all of them: a diff is silent about it. */
function writeSiblings(writer: Writer, own: RolloutRow, siblings: readonly RolloutRow[]): SiblingLink[] {
  if (siblings.length < 2) return [];
  const links: SiblingLink[] = [];
  let text = "  group";
  for (const { index, reward = null } of siblings) {
    const label = `#${index} ${formatNumber(fromWire(reward))}`;
    if (text.length + label.length > widestLine) {
      writer.write(text);
      text = "       ";
    }
    const from = text.length + 2;
    text += `  ${label}`;
    if (index !== own.index) links.push({ line: writer.line, from, to: text.length, index });
  }
  writer.write(text);
  return links;
}

function writePrompt(writer: Writer, prompt: string | undefined): Heading[] {
  if (prompt === undefined) return [];
  writer.write();
  const line = writer.line;
  const lines = prompt.split("\n").length;
  const detail = plural(lines, "line");
  writer.write(`■ prompt · ${detail}`, "heading");
  const from = writer.line;
  writeText(writer, "", prompt);
  for (let at = from; at < writer.line; at++)
    writer.marks.push({ line: at, from: 0, to: writer.lines[at]!.length, sign: "quiet" });
  // Folded, one line would be no shorter.
  writer.fold(line, lines > 1);
  return [{ line, end: writer.line - 1, name: "prompt", detail, children: [] }];
}

/** An observed turn of more lines is folded at first: results of tools are long, and not what the policy wrote. */
const longObserved = 4;

function writeResponse(writer: Writer, rollout: RolloutRow): { heading: Heading; lines: TextLine[] } {
  writer.write();
  const line = writer.line;
  const { spoken, tokens } = spokenOf(rollout);
  const turns = rollout.turns === undefined ? "" : plural(spoken.length, "turn");
  const detail = [turns, tokens === undefined ? "" : plural(tokens, "token")]
    .filter((part) => part !== "")
    .join(" · ");
  writer.write(`■ response${detail === "" ? "" : ` · ${detail}`}`, "heading");
  const lines: TextLine[] = [];
  const children = spoken.flatMap((one) => writeSpoken(writer, one, lines));
  writer.fold(line);
  return { heading: { line, end: writer.line - 1, name: "response", detail, children }, lines };
}

/** With a head of its own where there are turns. */
function writeSpoken(
  writer: Writer,
  { title, detail, kind, text, offset }: Spoken,
  lines: TextLine[],
): Heading[] {
  const start = writer.line;
  if (title !== undefined) {
    writer.pieces("▸ ", [
      { text: title, sign: "heading" },
      ...detail.map(({ text: said, sign }) => ({ text: said, sign })),
    ]);
  }
  const from = writer.line;
  const written = writeText(writer, "", text, offset);
  lines.push(...written);
  if (kind !== "written") mark(writer, from, "given");
  const children = writeSections(writer, from);
  if (title === undefined) return children;
  writer.fold(start, kind === "observed" && writer.line - from > longObserved);
  return [
    {
      line: start,
      end: writer.line - 1,
      name: title,
      detail: detail.map(({ text: said }) => said).join(" · "),
      children,
    },
  ];
}

const mark = (writer: Writer, from: number, sign: Mark["sign"]): void => {
  for (let line = from; line < writer.line; line++)
    writer.marks.push({ line, from: 0, to: writer.lines[line]!.length, sign });
};

function writeSections(writer: Writer, from: number): Heading[] {
  const flat = sectionsOf(writer.lines.slice(from)).map((section) => {
    const [line, end] = [from + section.from, from + section.to];
    writer.folds.push({ from: line, to: end });
    return { line, end, name: section.kind, detail: section.title };
  });
  return nested(flat);
}

/** Those within another are its children. */
function nested(flat: readonly Omit<Heading, "children">[]): Heading[] {
  const [first, ...rest] = flat;
  if (first === undefined) return [];
  const inside = rest.filter(({ end }) => end <= first.end);
  return [{ ...first, children: nested(inside) }, ...nested(rest.slice(inside.length))];
}
