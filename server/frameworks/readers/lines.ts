/** Offsets of a text as lines and characters. */
import { LineTable, type Range } from "../../lib/lines.ts";
import type { CodeSpan } from "../text/shell/traced.ts";

export class Lines extends LineTable {
  range({ start, end }: CodeSpan): Range {
    return this.between(start, end);
  }
}
