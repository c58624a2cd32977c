/** What the tools share: where they look, what they may do, how they answer and how they fail. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { UserError, errorPlace, messageOf } from "../../../shared/lib/errors.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { formatCount } from "../../../shared/lib/format.ts";

export interface Place {
  /** `--store`; undefined: that of the current folder. */
  readonly store: string | undefined;
  /** Whether functions of the workspace may be run. */
  readonly trusted: boolean;
}

/** No tool writes, and none reaches beyond this machine. */
export const reads = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

/** Characters of an answer: an agent reads all of it at once. */
const mostCharacters = 400_000;

/** @throws UserError where there are too many */
function bounded(parts: readonly string[], less: string): readonly string[] {
  const characters = parts.reduce((sum, { length }) => sum + length, 0);
  if (characters <= mostCharacters) return parts;
  throw new UserError(
    `The answer has ${formatCount(characters)} characters, and ${formatCount(mostCharacters)} are sent at most.`,
    { code: "answer-length", action: `Ask for less: ${less}.` },
  );
}

/** @param less how the agent asks for less; @param work gives the parts of an answer; what it throws is an answer, too: the agent reads what to do next */
export async function answer(
  less: string,
  work: () => Promise<readonly string[]> | readonly string[],
): Promise<CallToolResult> {
  try {
    return { content: textsOf(bounded(await work(), less)) };
  } catch (error) {
    return { isError: true, content: textsOf([failureText(error)]) };
  }
}

const textsOf = (parts: readonly string[]): CallToolResult["content"] =>
  parts.map((text) => ({ type: "text", text }));

function failureText(error: unknown): string {
  if (!(error instanceof UserError))
    return `The tool failed: ${visibleText(messageOf(error))}. Look into the daemon's log: gradus daemon logs.`;
  const { action } = error.detail;
  const message = error.message.replace(/([^.!?])$/, "$1.");
  return visibleText(`${errorPlace(error.detail)}${message}${action === undefined ? "" : ` ${action}`}`);
}
