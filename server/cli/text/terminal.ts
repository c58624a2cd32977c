/** Pieces of text pictures: bar, sparkline, duration. Pure, so that tests read them without a terminal. */
import { visibleLine, visibleText } from "../../../shared/lib/visibleText.ts";
import { blocks } from "../../../shared/lib/sparkline.ts";
import { colours } from "./colours.ts";

/** Block characters between 0 and `top`. */
export const shares = (values: readonly number[], top: number): string =>
  values.map((value) => blocks[Math.min(7, Math.floor((8 * value) / (top || 1)))] ?? blocks[0]).join("");

/** `done` of `total` as a bar of `width` cells, in eighths of a cell. */
export function bar(done: number, total: number, width: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, total > 0 ? done / total : 0)) * width * 8);
  const full = Math.floor(eighths / 8);
  const part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]!;
  return `${"█".repeat(full)}${part}`.padEnd(width, "░");
}

export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
  return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")} min`;
}

export const fixed = (value: number | undefined, digits = 3): string =>
  value === undefined || !Number.isFinite(value) ? "–" : value.toFixed(digits);

/** One line of text: control characters made visible, cut to `width` columns. */
export const oneLine = (text: string, width: number): string => cut(visibleLine(text), width);

// oxlint-disable-next-line no-control-regex
const styling = /(\u001b\[[0-9;]*m)/;
/** Two columns wide in a terminal: Chinese, Japanese and Korean, full-width forms, pictures. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** Marks over letters and variation selectors are among them, and joiners of pictures. */
const none = /\p{Mn}|\p{Me}|[\u200b-\u200d]/u;
const columnsOfLetter = (letter: string): number => (none.test(letter) ? 0 : wide.test(letter) ? 2 : 1);

export const columnsOf = (text: string): number =>
  text
    .split(styling)
    .flatMap((part, index) => (index % 2 === 1 ? [] : [...part]))
    .reduce((sum, letter) => sum + columnsOfLetter(letter), 0);

/** A line of at most `width` columns, colours kept; what is cut ends in "…". */
export function cut(line: string, width: number): string {
  if (columnsOf(line) <= width) return line;
  let left = width - 1;
  let isOver = width < 1;
  const kept = line.split(styling).map((part, index) => {
    // Colours that begin in what is cut do no harm, and those that end there must.
    if (index % 2 === 1) return part;
    let text = "";
    for (const letter of part) {
      if (isOver) break;
      const columns = columnsOfLetter(letter);
      isOver = columns > left;
      text += isOver ? "…" : letter;
      left -= columns;
    }
    return text;
  });
  return kept.join("");
}

/**
 * Text in lines of at most `width` columns, broken between words only: a path or a command that is longer stays whole,
 * so that it can be copied. What follows the first line of a paragraph is indented as that, and by `hanging` more.
 */
export function wrapped(text: string, width: number, hanging = 2): string {
  return text
    .split("\n")
    .map((line) => wrappedLine(line, width, hanging))
    .join("\n");
}

function wrappedLine(line: string, width: number, hanging: number): string {
  if (columnsOf(line) <= width) return line;
  const indent = /^ */.exec(line)![0];
  const lines: string[] = [];
  let current = indent;
  for (const [, gap = "", word = ""] of line.slice(indent.length).matchAll(/(\s*)(\S+)/g)) {
    const isFirst = current.trim() === "";
    if (!isFirst && columnsOf(current + gap + word) > width) {
      lines.push(current);
      current = `${indent}${" ".repeat(hanging)}${word}`;
    } else current += isFirst ? word : gap + word;
  }
  return [...lines, current].join("\n");
}

/** At most so many values, each the mean of its part of all of them: the whole course in the width that there is. */
export function thinned(values: readonly number[], width: number): number[] {
  const parts = Math.min(width, values.length);
  return Array.from({ length: parts }, (_, part) => {
    const own = values
      .slice(Math.floor((part * values.length) / parts), Math.floor(((part + 1) * values.length) / parts))
      .filter(Number.isFinite);
    return own.length === 0 ? Number.NaN : own.reduce((sum, value) => sum + value, 0) / own.length;
  });
}

/** The colours that we set: bold, dim and their end; eight colours and their end. */
// oxlint-disable-next-line no-control-regex -- a colour begins with one
const ours = /(\u001b\[(?:[12]|22|3[0-79])m)/;

/**
 * Text as it may go to a terminal. Our own colours stay, where we set any; of everything else control characters are
 * shown. What models, tasks and users wrote is made visible before it is coloured: this is the last line of defence.
 */
export function forTerminal(text: string, coloured = colours.isColorSupported): string {
  if (!coloured) return visibleText(text);
  return text
    .split(ours)
    .map((part, index) => (index % 2 === 1 ? part : visibleText(part)))
    .join("");
}

/** Green where a rollout did well, red where badly, yellow between. */
export function byReward(text: string, reward: number, worst: number, best: number): string {
  if (!Number.isFinite(reward)) return colours.dim(text);
  if (best <= worst) return reward > 0 ? colours.green(text) : colours.red(text);
  const share = (reward - worst) / (best - worst);
  return share > 0.66 ? colours.green(text) : share < 0.34 ? colours.red(text) : colours.yellow(text);
}

/** A block of lines at the bottom of the terminal that is drawn again in place; what is printed goes above it. */
export class LiveBlock {
  /** Columns of each line that stands there. */
  private lines: readonly number[] = [];

  constructor(private readonly stream: NodeJS.WriteStream) {}

  get width(): number {
    // 0 in a terminal that does not tell its size.
    return this.stream.columns > 0 ? this.stream.columns : 80;
  }

  /** To the first column as well: an echoed `^C` has moved the cursor. */
  private clear(): string {
    // A terminal that was made narrower has broken them.
    const height = this.lines.reduce((sum, columns) => sum + Math.max(1, Math.ceil(columns / this.width)), 0);
    return height === 0 ? "" : `\r\u001b[${height}A\u001b[0J`;
  }

  /** No line is wider than the terminal: a broken one would leave a part of itself at each drawing. */
  draw(lines: readonly string[]): void {
    const fitting = lines.map((line) => cut(forTerminal(line), this.width - 1));
    this.stream.write(`${this.clear()}${fitting.map((line) => `${line}\n`).join("")}`);
    this.lines = fitting.map(columnsOf);
  }

  /** Prints above the block, which the caller draws again. */
  print(text: string): void {
    this.stream.write(`${this.clear()}${forTerminal(text)}\n`);
    this.lines = [];
  }
}
