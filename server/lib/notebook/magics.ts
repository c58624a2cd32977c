/** A code cell's lines as Python: what IPython runs otherwise stays readable as a comment, at its line. */

/** Cell magics that run their cell as Python in the notebook's own names; every other makes its cell no Python. */
const runsPython = /^%%(?:capture|time)\b/;
const cellMagic = /^%%[A-Za-z!]/;

export function pythonLines(cell: readonly string[]): string[] {
  let body = cell.findIndex((line) => line.trim() !== "");
  while (body >= 0 && cellMagic.test(cell[body] ?? "")) {
    if (!runsPython.test(cell[body] ?? "")) return cell.map(commented);
    const next = cell.slice(body + 1).findIndex((line) => line.trim() !== "");
    body = next < 0 ? cell.length : body + 1 + next;
  }
  const read = new CellReader();
  return cell.map((line, at) => (at < body && line.trim() !== "" ? commented(line) : read.line(line)));
}

/** Also a release that a line of a shell pins: `pip install trl==0.22.2`. */
const commented = (line: string): string => (line.trim() === "" ? line : `# ${line}`);

const indented = /^\s*/;
const magic = /^\s*(?:%{1,2}[A-Za-z]|!|\?)/;
/** `trainer.train?`: nothing in Python ends so. */
const help = /^\s*%{0,2}[\w.*]+\?{1,2}\s*$/;
/** What IPython takes without its `%`, with words that no expression continues. */
const automatic = /^\s*(?:pip3?|conda|mamba|uv|cd|ls|pwd|cp|mv|rm|mkdir|cat)\s+[A-Za-z./~'"]/;
const operators = /^\s*\w+\s+(?:in|is|if|and|or|not)\b/;
/** `files = !ls`, `kernel = %env X`. */
const assigned = /^(\s*[A-Za-z_][\w., ]*=\s*)([!%][A-Za-z!].*)$/;
/** The statement behind it runs. */
const timed = /^(\s*)%time (?=\S)/;

/** Knows of each line whether a statement begins there: in a text or between brackets nothing is a magic. */
class CellReader {
  /** The three quotes of a text that is open. */
  private quote = "";
  private depth = 0;
  private continues = false;
  /** A magic's line ends with a backslash. */
  private magicGoesOn = false;

  line(line: string): string {
    if (this.magicGoesOn) {
      this.magicGoesOn = line.endsWith("\\");
      return `# ${line}`;
    }
    const begins = this.quote === "" && this.depth === 0 && !this.continues;
    const python = begins ? this.statement(line) : line;
    this.scan(python);
    return python;
  }

  private statement(line: string): string {
    if (timed.test(line)) return line.replace(timed, "$1if 1: ");
    const [, name, command] = assigned.exec(line) ?? [];
    const isMagic = magic.test(line) || help.test(line) || (automatic.test(line) && !operators.test(line));
    if (!isMagic && command === undefined) return line;
    this.magicGoesOn = line.endsWith("\\");
    // A branch may hold nothing but the magic.
    return command === undefined
      ? `${indented.exec(line)?.[0] ?? ""}pass  # ${line.trimStart()}`
      : `${name ?? ""}None  # ${command}`;
  }

  private scan(line: string): void {
    let at = this.quote === "" ? 0 : this.closed(line, 0);
    for (; at < line.length; at++) {
      const letter = line[at] ?? "";
      if (letter === "#") break;
      if ("([{".includes(letter)) this.depth += 1;
      else if (")]}".includes(letter)) this.depth = Math.max(0, this.depth - 1);
      else if (letter === '"' || letter === "'") at = this.text(line, at, letter);
    }
    this.continues = this.quote === "" && at >= line.length && line.endsWith("\\");
  }

  /** @returns where the text's last quote is */
  private text(line: string, at: number, letter: string): number {
    if (line.startsWith(letter.repeat(3), at)) {
      this.quote = letter.repeat(3);
      return this.closed(line, at + 3) - 1;
    }
    return endOf(line, at + 1, letter) - 1;
  }

  /** @returns behind the three quotes; the line's end, where the text goes on */
  private closed(line: string, from: number): number {
    const end = endOf(line, from, this.quote);
    if (line.startsWith(this.quote, end - 3) && end - 3 >= from) this.quote = "";
    return end;
  }
}

/** Behind the quote, else the line's end. */
function endOf(line: string, from: number, quote: string): number {
  for (let at = from; at < line.length; at++) {
    if (line[at] === "\\") at += 1;
    else if (line.startsWith(quote, at)) return at + quote.length;
  }
  return line.length;
}
