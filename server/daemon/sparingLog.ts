/** What one connection has to complain of: the first few lines, cut, and how many more there were. A client cannot fill the log. */
import { visibleLine } from "../../shared/lib/visibleText.ts";

const saidInFull = 5;
const shownCharacters = 200;

/** The first 200 characters, in one line. */
export function brief(text: string): string {
  const start = visibleLine(text.slice(0, shownCharacters));
  return text.length <= shownCharacters ? start : `${start}… (${text.length} characters)`;
}

export class LimitedLog {
  private count = 0;

  constructor(private readonly log: (text: string) => void) {}

  add(text: string): void {
    this.count += 1;
    if (this.count <= saidInFull) this.log(brief(text));
  }

  close(): void {
    if (this.count > saidInFull)
      this.log(`${this.count - saidInFull} more errors of that connection are left out`);
    this.count = 0;
  }
}
