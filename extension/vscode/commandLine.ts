/** The `gradus` command, for what needs no daemon. */
import { execFile } from "node:child_process";
import { UserError } from "../../shared/lib/errors.ts";

export interface CommandLine {
  readonly node: string;
  readonly cli: string;
}

/** Bytes; the list of papers with what each preset follows is 0.3 MB. */
const most = 64 * 1024 * 1024;

/** What a command prints. @throws UserError with its complaint where it prints nothing and fails */
export function printed({ node, cli }: CommandLine, words: readonly string[], cwd?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(node, [cli, ...words], { cwd, maxBuffer: most }, (error, text, complaints) => {
      if (error === null || text !== "") return resolve(text);
      reject(new UserError(complaints.trim() === "" ? error.message : complaints.trim(), { cause: error }));
    });
  });
}
