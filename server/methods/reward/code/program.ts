/** The program in a response. */
import { fences } from "../../../lib/texts/fences.ts";
import type { SandboxLanguage } from "../../../lib/sandbox/sandbox.ts";

export interface Program {
  readonly language: SandboxLanguage;
  readonly code: string;
  /** Character of the response that the code begins at. */
  readonly start: number;
}

const languages: Readonly<Record<string, SandboxLanguage>> = {
  py: "python",
  python: "python",
  python3: "python",
  js: "javascript",
  javascript: "javascript",
  node: "javascript",
};

/**
 * The last fenced block that is not empty, else the whole response.
 * @param otherwise the language of a block that names none
 * @returns undefined where a block names another language than `only`, or there is no text at all
 */
export function programOf(
  response: string,
  from: "last_block" | "response",
  only: SandboxLanguage | "auto",
  otherwise: SandboxLanguage = "python",
): Program | undefined {
  const blocks = from === "response" ? [] : fences(response);
  const block = blocks.findLast(({ body }) => body.trim() !== "");
  const name = /^[\w+#-]*/.exec(block?.named ?? "")![0];
  const named = languages[name.toLowerCase()];
  const isOther = name !== "" && (named === undefined || (only !== "auto" && named !== only));
  const code = block?.body ?? response;
  if (isOther || code.trim() === "") return undefined;
  const start = block?.start ?? 0;
  return { language: only === "auto" ? (named ?? otherwise) : only, code, start };
}

/** Characters of the response of each line of the program, its end included, from line 1. */
export function lineSpans({ code, start }: Program): (readonly [from: number, to: number])[] {
  let at = start;
  return code.split(/(?<=\n)/).map((line) => [at, (at += line.length)] as const);
}
