/** Rollouts of a run that satisfy a condition, a row each. Pure. */
import { formatChange, formatCount, formatNumber, plural } from "../../../../shared/lib/format.ts";
import type { RolloutHit, RolloutSort } from "../../../../shared/protocol/protocol.ts";
import { fromWire, type RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import type { RolloutDocument, RolloutLines } from "../document.ts";
import { Writer, finishText, oneLine, signOf } from "../writer.ts";

export interface Found {
  readonly name: string;
  readonly rollouts: readonly RolloutRow[];
  /** How many satisfy the condition, of which `rollouts` may be the first. */
  readonly total: number;
  /** How many the run has. */
  readonly all: number;
  /** Empty: all. */
  readonly where: string;
  readonly sort: RolloutSort;
}

export const sortNames: Readonly<Record<RolloutSort, string>> = {
  step: "by step, first to last",
  "-step": "by step, last to first",
  reward: "by reward, lowest first",
  "-reward": "by reward, highest first",
  advantage: "by advantage, lowest first",
  "-advantage": "by advantage, highest first",
  length: "by length, shortest first",
  "-length": "by length, longest first",
};

const longestResponse = 160;

interface Cell {
  readonly text: string;
  readonly sign?: ReturnType<typeof signOf>;
}

function cellsOf(rollout: RolloutRow): readonly Cell[] {
  const { step, index, reward = null, advantage = null, response = "" } = rollout;
  const gained = fromWire(advantage);
  const shown = response.replace(/\r\n|\r|\n/g, "⏎");
  return [
    { text: String(step) },
    { text: `#${index}` },
    { text: formatNumber(fromWire(reward)) },
    { text: Number.isNaN(gained) ? "–" : formatChange(gained), sign: signOf(gained) },
    { text: formatCount(response.length) },
    { text: finishText(rollout) },
    { text: rollout.task?.arm ?? "" },
    { text: shown.length > longestResponse ? `${shown.slice(0, longestResponse)}…` : shown },
  ];
}
const heads = ["step", "#", "reward", "advantage", "length", "finish", "arm", "response"];
/** Texts begin at the left, numbers end at the right. */
const isText = (column: number): boolean => column >= 5;

export function foundDocument({ name, rollouts, total, all, where, sort }: Found): RolloutDocument {
  const writer = new Writer();
  const condition = where === "" ? "" : ` with ${oneLine(where)}`;
  writer.write(`${name} · ${formatCount(total)} of ${plural(all, "rollout")}${condition}`, "heading");
  const shown = rollouts.length < total ? `, the first ${formatCount(rollouts.length)}` : "";
  writer.write(`Sorted ${sortNames[sort]}${shown}`, "quiet");
  writer.write();
  const table = rollouts.map(cellsOf);
  const widths = heads.map((head, column) =>
    table.reduce((most, row) => Math.max(most, row[column]!.text.length), head.length),
  );
  const last = heads.length - 1;
  const aligned = (text: string, column: number): string =>
    column === last ? text : isText(column) ? text.padEnd(widths[column]!) : text.padStart(widths[column]!);
  writer.write(heads.map(aligned).join("  "), "quiet");
  const lines = table.map((row, at): RolloutLines => {
    const { step, group, index } = rollouts[at]!;
    const line = writer.line;
    const to = widths[0]! + 2 + widths[1]!;
    writer.pieces(
      "",
      row.map(({ text, sign }, column) => ({ text: aligned(text, column), sign })),
      "  ",
    );
    return { from: line, to: line, at: [widths[0]! - row[0]!.text.length, to], step, group, index };
  });
  return {
    ...writer.written(),
    rollouts: lines,
  };
}

export interface Searched {
  readonly name: string;
  readonly text: string;
  /** The newest first. */
  readonly hits: readonly RolloutHit[];
  readonly total: number;
  readonly atLeast: boolean;
}

/** Answers that hold a text, a row each, with the part around it. */
export function searchDocument({ name, text, hits, total, atLeast }: Searched): RolloutDocument {
  const writer = new Writer();
  const count = `${atLeast ? "at least " : ""}${plural(total, "rollout")}`;
  writer.write(`${name} · ${count} whose answer holds ${oneLine(text)}`, "heading");
  const shown = hits.length < total ? `, the first ${formatCount(hits.length)}` : "";
  writer.write(`The newest first${shown}`, "quiet");
  writer.write();
  const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(({ length }) => length));
  const [steps, indices] = [hits.map(({ step }) => String(step)), hits.map(({ index }) => `#${index}`)];
  const rewards = hits.map(({ reward }) => formatNumber(fromWire(reward)));
  const widths = [steps, indices, rewards].map(widest);
  const lines = hits.map(({ step, group, index, snippet }, at): RolloutLines => {
    const line = writer.line;
    const place = `${steps[at]!.padStart(widths[0]!)}  ${indices[at]!.padStart(widths[1]!)}`;
    const head = `${place}  reward ${rewards[at]!.padStart(widths[2]!)}  `;
    // As long as before, so that the marks stay where they are.
    writer.write(`${head}${snippet.text.replace(/[\r\n\u2028\u2029]/g, "⏎")}`);
    for (const [from, to] of snippet.marks)
      writer.marks.push({ line, from: head.length + from, to: head.length + to, sign: "heading" });
    return {
      from: line,
      to: line,
      at: [place.length - place.trimStart().length, place.length],
      step,
      group,
      index,
    };
  });
  return {
    ...writer.written(),
    rollouts: lines,
  };
}
