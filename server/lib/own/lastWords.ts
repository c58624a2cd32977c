import type { ChildProcess } from "node:child_process";

/** Most characters that are kept. */
const most = 2_000;

/** What a process says last on its standard error, where programs say why they end. */
export class LastWords {
  private text = "";

  constructor({ stderr }: ChildProcess) {
    stderr?.on("data", (data: Buffer) => (this.text = `${this.text}${data.toString()}`.slice(-most)));
  }

  /** The last lines, with white space between them in the place of breaks. */
  last(lines: number): string {
    return this.text.trim().split("\n").slice(-lines).join(" ").trim();
  }
  /** All that is kept. */
  get all(): string {
    return this.text.trim();
  }
}
