/** What a reward term's failure says: the error itself, and the line that threw it. */

interface FailureText {
  /** Without the places that are shown next to it. */
  readonly text: string;
  /** Absolute path; null where the message names none. */
  readonly file: string | null;
  /** Of a notebook: the cell that the line is in. */
  readonly cell?: number;
  /** Both from 1; null where only the file is known. */
  readonly line: number | null;
  readonly column: number | null;
}

const path = String.raw`(?:file:\/\/|\/|[A-Za-z]:[\\/])[^\n]*?`;
/** ` (at score (/project/reward.ts:3:9))`: the frame that a thrown error's message ends with. */
const frame = new RegExp(String.raw` \(at (?:[^\n]*? \()?(${path}):(\d+):(\d+)\)?\)$`);
/** `/project/reward.ts:score: `: the function that was called. */
const called = new RegExp(String.raw`^(${path}\.(?:[cm]?[jt]sx?|py|ipynb)):[^:\n]*: `);
/**
 * ` (reward.py:22)`, ` (train.ipynb cell 4:2)`: the line of a Python function that threw, in its own folder or below it; other
 * files are absolute.
 */
const pythonFrame = / \(((?:[^()\n]|\([^()\n]*\))+\.(?:py|ipynb))(?: cell (\d+))?:(\d+)\)$/;

/** A stack names a module by its address where it has no source map. */
function pathOf(place: string): string {
  if (!place.startsWith("file://")) return place;
  try {
    const name = decodeURIComponent(new URL(place).pathname);
    return /^\/[A-Za-z]:\//.test(name) ? name.slice(1) : name;
  } catch {
    return place; // No address: shown as it is.
  }
}

export function readFailure(message: string): FailureText {
  const [at, by] = [frame.exec(message), called.exec(message)];
  const python = /\.(?:py|ipynb)$/.test(by?.[1] ?? "") ? pythonFrame.exec(message) : null;
  if (python !== null) return readPython(message, by?.[0] ?? "", by?.[1] ?? "", python);
  const text = message.slice(by?.[0].length ?? 0, at?.index ?? message.length).trim();
  return {
    text: text === "" ? message : text,
    file: at === null ? (by?.[1] ?? null) : pathOf(at[1] ?? ""),
    line: at === null ? null : Number(at[2]),
    column: at === null ? null : Number(at[3]),
  };
}

function readPython(message: string, before: string, called: string, frame: RegExpExecArray): FailureText {
  const named = frame[1] ?? "";
  const isAbsolute = /^(?:[\\/]|[A-Za-z]:)/.test(named);
  return {
    text: message.slice(before.length, frame.index).trim(),
    file: isAbsolute ? named : called.replace(/[^\\/]*$/, named),
    ...(frame[2] === undefined ? {} : { cell: Number(frame[2]) }),
    line: Number(frame[3]),
    column: 1,
  };
}

/** What failures of one cause share. */
interface FailureKind {
  /** The error's name; of what throws nothing the words, without the values in them. */
  readonly kind: string;
  /** The line that threw; null where the message does not name it, as where it was cut. */
  readonly place: string | null;
}

export function kindOfFailure(message: string): FailureKind {
  const { text, file, cell, line } = readFailure(message);
  const kind = /^threw ([\w.]+)/.exec(text)?.[1] ?? text.replace(/(['"`]).*?\1|-?\d[\d.,]*/gs, "…");
  return { kind, place: line === null ? null : `${file ?? ""}${cellText(cell)}:${line}` };
}

/** One event of a run's log as the term that failed, and its message. */
export function readFailureEvent(message: string): { readonly term: string; readonly message: string } {
  const found =
    /^Reward term ([\s\S]+?) failed: ([\s\S]*?)(?: \((?:every rollout of the step|\d+ rollouts)\))?$/.exec(
      message,
    );
  return found === null ? { term: "", message } : { term: found[1] ?? "", message: found[2] ?? "" };
}

/** `bad.ts:3`; null where the place is not known. */
export function placeText({ file, cell, line }: Pick<FailureText, "file" | "cell" | "line">): string | null {
  if (file === null) return null;
  const name = file.split(/[\\/]/).at(-1) ?? file;
  return line === null ? name : `${name}${cellText(cell)}:${line}`;
}

const cellText = (cell: number | undefined): string => (cell === undefined ? "" : ` cell ${cell}`);

const longest = 200;
/** On one line, and no longer than a person reads in passing. */
export const shortFailure = (text: string): string => {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
};
