/** Offsets of a text as lines and characters. */
import { LineTable, type Range } from "../../lib/lines.ts";
import type { Span } from "../shell/traced.ts";

export class Lines extends LineTable {
  range({ start, end }: Span): Range {
    return this.between(start, end);
  }
}
