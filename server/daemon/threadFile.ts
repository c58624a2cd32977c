/** Threads of the daemon: where their bundles lie, and their errors on the way to the main thread. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError, messageOf } from "../../shared/lib/errors.ts";

/**
 * The bundle lies in dist/, next to this chunk or one folder above it.
 * @param does completes "The thread that …"
 */
export function threadFile(name: string, does: string): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const places = [join(here, name), join(here, "..", name)];
  const found = places.find((place) => existsSync(place));
  if (found === undefined)
    throw new UserError(`The thread that ${does} is not built.`, {
      file: places[0] ?? here,
      code: "not-built",
      action: "Build it: npm start.",
    });
  return found;
}

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
