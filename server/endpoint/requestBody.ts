/** The body of a request, within bounds. */
import type { IncomingMessage } from "node:http";
import { messageOf } from "../../shared/lib/errors.ts";
import { MOST_LEVELS, tooLarge, type Share } from "./bounds.ts";
import { Refusal } from "./errors.ts";

const [quote, backslash] = [0x22, 0x5c];
const opening = new Set([0x5b, 0x7b]);
const closing = new Set([0x5d, 0x7d]);

/** How deep lists and objects of a JSON text lie in one another, before anything that calls itself reads them. */
function levelsOf(text: Buffer): number {
  let [level, most] = [0, 0];
  let inText = false;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]!;
    if (inText) {
      if (byte === backslash) at++;
      else if (byte === quote) inText = false;
    } else if (byte === quote) inText = true;
    else if (opening.has(byte)) most = Math.max(most, ++level);
    else if (closing.has(byte)) level--;
  }
  return most;
}

/**
 * @param share what the body counts to while the request is under way
 * @throws Refusal for a body that is too long, too deep or no JSON
 */
export async function jsonBody(request: IncomingMessage, share: Share, most: number): Promise<unknown> {
  if (Number(request.headers["content-length"] ?? 0) > most) throw tooLarge("The body", most);
  const parts: Buffer[] = [];
  // What is refused is read to its end and thrown away: a client that still writes would not see the refusal.
  for await (const part of request.iterator({ destroyOnReturn: false })) {
    const bytes: Buffer = part;
    share.add(bytes.length);
    if (share.bytes > most) throw tooLarge("The body", most);
    parts.push(bytes);
  }
  const text = Buffer.concat(parts);
  if (levelsOf(text) > MOST_LEVELS)
    throw new Refusal(
      400,
      "too_deep",
      `The body has lists and objects more than ${MOST_LEVELS} levels deep. Send a flatter one.`,
    );
  try {
    return JSON.parse(text.toString("utf8"));
  } catch (error) {
    throw new Refusal(400, "invalid_json", `The body is not JSON: ${messageOf(error)}. Send a JSON object.`);
  }
}
