/** The `gradus` command, for what needs no daemon. */
import { execFile } from "node:child_process";
import { UserError } from "../../shared/lib/errors.ts";

export interface CommandLine {
  readonly node: string;
  readonly cli: string;
  /** What the Node needs besides the window's own environment. */
  readonly needs: Readonly<Record<string, string>>;
}

/** Bytes; the list of papers with what each preset follows is 0.3 MB. */
const most = 64 * 1024 * 1024;

interface Ways {
  readonly cwd?: string;
  /** Milliseconds after which it is ended. */
  readonly timeout?: number;
  /** Besides the window's own. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** What a command prints. @throws UserError with its complaint where it prints nothing and fails */
export function printed(
  { node, cli, needs }: CommandLine,
  words: readonly string[],
  { cwd, timeout, environment }: Ways = {},
): Promise<string> {
  const env = { ...process.env, ...needs, ...environment };
  const options = { cwd, timeout, env, maxBuffer: most, windowsHide: true };
  return new Promise((resolve, reject) => {
    execFile(node, [cli, ...words], options, (error, text, complaints) => {
      if (error === null || text !== "") return resolve(text);
      reject(new UserError(complaints.trim() === "" ? error.message : complaints.trim(), { cause: error }));
    });
  });
}
