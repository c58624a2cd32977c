/** What the tools share: where they look, what they may do, how they answer and how they fail. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { UserError, errorPlace, messageOf } from "../../../shared/lib/errors.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";

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

/** @param work gives the parts of an answer; what it throws is an answer, too: the agent reads what to do next */
export async function answer(
  work: () => Promise<readonly string[]> | readonly string[],
): Promise<CallToolResult> {
  try {
    return { content: textsOf(await work()) };
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
