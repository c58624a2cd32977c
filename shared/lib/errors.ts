/** An error with the person's next action. Everything that reaches a person is one of these. */
export class UserError extends Error {
  override readonly name = "UserError";
  constructor(
    message: string,
    readonly detail: {
      /** What to do about it, as a sentence. */
      readonly action?: string;
      readonly file?: string;
      /** 0-based, as in LSP. */
      readonly line?: number;
      readonly character?: number;
      readonly code?: string;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
  }
}

/** "FILE: " or "FILE:LINE:COLUMN: ", counted from 1, for the front of a message; empty where an error names no file. */
export function errorPlace({ file, line, character }: UserError["detail"]): string {
  if (file === undefined) return "";
  return line === undefined ? `${file}: ` : `${file}:${line + 1}:${(character ?? 0) + 1}: `;
}

/** Why a file could not be read, in words: "there is no such file". */
export function readFailure(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") return "there is no such file";
  if (code === "EISDIR") return "it is a folder";
  if (code === "EACCES" || code === "EPERM") return "you may not read it";
  return messageOf(error);
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
