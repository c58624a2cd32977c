/** Errors of the daemon's threads, on the way to the main thread. */
import { UserError, messageOf } from "../../shared/lib/errors.ts";

/** An error as plain data. */
export interface ThreadError {
  readonly message: string;
  /** null: the person cannot fix it. */
  readonly detail: {
    readonly action?: string;
    readonly file?: string;
    readonly line?: number;
    readonly code?: string;
  } | null;
}

export function threadError(error: unknown): ThreadError {
  const message = messageOf(error);
  if (!(error instanceof UserError)) return { message, detail: null };
  const { action, file, line, code } = error.detail;
  return {
    message,
    detail: {
      ...(action === undefined ? {} : { action }),
      ...(file === undefined ? {} : { file }),
      ...(line === undefined ? {} : { line }),
      ...(code === undefined ? {} : { code }),
    },
  };
}

export const errorOf = ({ message, detail }: ThreadError): Error =>
  detail === null ? new Error(message) : new UserError(message, detail);
