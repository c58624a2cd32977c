/** The records of a file that grows, each once, when it is whole and its checksum holds. */
import { fileWindow } from "./fileWindow.ts";
import { limits } from "../inputFile.ts";

/** What lies at the beginning of some bytes. */
export type Framed =
  | { readonly state: "record"; readonly payload: Buffer; readonly length: number }
  /** The bytes end within it: so many are needed, as far as they tell. */
  | { readonly state: "short"; readonly needs: number }
  /** Nothing that follows can be read. */
  | { readonly state: "damaged" };

export class RecordTail {
  private offset = 0;
  private damaged = false;

  /** @param frame finds the record at an offset of some bytes, which lie at `position` of the file */
  constructor(
    readonly file: string,
    private readonly frame: (bytes: Buffer, at: number, position: number) => Framed,
  ) {}

  /** Why the rest is not read; undefined: it is whole so far. */
  get damage(): string | undefined {
    return this.damaged
      ? `${this.file} is damaged at byte ${this.offset}: what follows in it is not read`
      : undefined;
  }

  next(most: number): {
    readonly payloads: readonly Buffer[];
    readonly bytes: number;
    readonly more: boolean;
  } {
    for (let room = most; !this.damaged;) {
      const { bytes, size } = fileWindow(this.file, this.offset, room);
      const payloads: Buffer[] = [];
      let at = 0;
      let needs = 0;
      while (at < bytes.length && needs === 0) {
        const found = this.frame(bytes, at, this.offset + at);
        if (found.state === "record") {
          payloads.push(found.payload);
          at += found.length;
        } else if (found.state === "short") needs = found.needs;
        else this.damaged = true;
        if (this.damaged) break;
      }
      const whole = this.offset + bytes.length >= size;
      this.offset += at;
      if (at === 0 && needs > room && needs <= limits.line && !whole) {
        room = needs;
        continue;
      }
      if (needs > limits.line) this.damaged = true;
      return { payloads, bytes: at, more: !whole && at > 0 && !this.damaged };
    }
    return { payloads: [], bytes: 0, more: false };
  }
}
