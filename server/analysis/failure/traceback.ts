/**
 * The exceptions of a trainer's log. Python prints frames and then the exception; Ray puts its worker's name in front of each line and
 * mixes the lines of several, torchrun puts the rank there, vLLM a time and a place. A chain is printed with its cause first.
 */

export interface Frame {
  readonly file: string;
  readonly line: number;
  readonly name: string;
}

/** An exception, or another line that may say why: then there are no frames. */
export interface LogEvent {
  /** "torch.OutOfMemoryError: CUDA out of memory. …", with the lines that go on with it. */
  readonly text: string;
  /** From the outermost to the one that threw. */
  readonly frames: readonly Frame[];
  /** Its line in the log, from 1. */
  readonly line: number;
  readonly thrown: boolean;
  /** What it came from, where the log says so. */
  readonly from: LogEvent | undefined;
}

/** Escapes of a terminal, and what Ray says of lines that it left out. */
// oxlint-disable-next-line no-control-regex -- that is what they are
const noise = /\u001B\[[0-9;]*[A-Za-z]|\r| \[repeated \d+x across cluster\].*$/g;

/** Whoever prints a line, and what loggers put in front of it. */
const printers = [/^\(([^()]*\bpid=\d+[^()]*)\) ?/, /^\[(rank\d+)\]: ?/];
const stamps = [
  /^(?:ERROR|WARNING|INFO|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d (?:\[[^\]]*\]|\S+:\d+\]) ?/,
  /^\[?\d{4}-\d\d-\d\d[ T][\d:,.]+Z?\]? ?(?:[|-] ?)?(?:(?:ERROR|INFO|WARNING|CRITICAL)\b ?)?(?:[|-] ?)?(?:stderr ?[|-] ?)?/,
];

const frameLine = /^\s+File "([^"]+)", line (\d+), in (.+)$/;
/** Its name is the first word of a line that is not indented. */
const exceptionLine = /^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:\([\w.]+\))?(?::|$)/;
const namedException = /^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?:\([\w.]+\))?:/;
const chained = /^(?:During handling of the above exception|The above exception was the direct cause)/;
/** Indented lines that go on with an exception's message, at most. */
const longestMessage = 8;

interface Line {
  readonly text: string;
  readonly by: string;
  readonly number: number;
}

function lineOf(raw: string, index: number): Line {
  let text = raw.replace(noise, "");
  let by = "";
  for (let changed = true; changed;) {
    changed = false;
    for (const printer of printers) {
      const found = printer.exec(text);
      if (found === null) continue;
      by += found[1] ?? "";
      text = text.slice(found[0].length);
      changed = true;
    }
    for (const stamp of stamps) {
      const found = stamp.exec(text);
      if (found === null || found[0] === "") continue;
      text = text.slice(found[0].length);
      changed = true;
    }
  }
  return { text, by, number: index + 1 };
}

/** In the order of the log. */
export function eventsOf(log: string): LogEvent[] {
  const streams = new Map<string, Stream>();
  for (const line of log.split("\n").map(lineOf)) {
    const stream = streams.get(line.by) ?? new Stream();
    streams.set(line.by, stream);
    stream.take(line);
  }
  return [...streams.values()].flatMap((stream) => stream.end()).sort((one, other) => one.line - other.line);
}

/** The lines of one printer. */
class Stream {
  private readonly events: LogEvent[] = [];
  private frames: Frame[] = [];
  private open: { lines: string[]; readonly event: Omit<LogEvent, "text"> } | undefined;
  private from: LogEvent | undefined;

  take({ text, number }: Line): void {
    const frame = frameLine.exec(text);
    if (frame !== null) {
      this.close();
      this.frames.push({ file: frame[1]!, line: Number(frame[2]), name: frame[3]! });
      return;
    }
    if (/\bTraceback \(most recent call last\):?$/.test(text)) {
      this.close();
      this.frames = [];
    } else if (chained.test(text)) {
      this.close();
      this.from = this.events.findLast(({ thrown }) => thrown);
    } else if (this.frames.length > 0 ? exceptionLine.test(text) : namedException.test(text)) {
      this.close();
      const event = { frames: this.frames, line: number, thrown: true, from: this.from };
      this.open = { lines: [text], event };
      this.frames = [];
      this.from = undefined;
    } else if (this.open !== undefined && /^\s+\S/.test(text) && this.open.lines.length < longestMessage)
      this.open.lines.push(text);
    else if (text.trim() !== "" && this.frames.length === 0) this.plain(text, number);
    else if (text.trim() === "") this.close();
  }

  end(): readonly LogEvent[] {
    this.close();
    return this.events;
  }

  private plain(text: string, line: number): void {
    this.close();
    this.events.push({ text, frames: [], line, thrown: false, from: undefined });
  }

  private close(): void {
    if (this.open === undefined) return;
    this.events.push({ ...this.open.event, text: this.open.lines.join("\n") });
    this.open = undefined;
  }
}
