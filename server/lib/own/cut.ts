/** Bytes of a message that are recorded: a log keeps one for each rollout. */
import { formatCount } from "../../../shared/lib/format.ts";
const most = 2048;

/** A message of at most 2 kB; it says how much was cut off. */
export function cut(message: string): string {
  // No character has less than one byte: a text that is short enough is seen to be so at once.
  if (message.length <= most && Buffer.byteLength(message) <= most) return message;
  const notice = ` … (cut: the message has ${formatCount(message.length)} characters)`;
  const bytes = Buffer.from(message.slice(0, most)).subarray(0, most - Buffer.byteLength(notice));
  // A character that the end would divide is left out.
  return bytes.toString("utf8").replace(/\uFFFD$/, "") + notice;
}
