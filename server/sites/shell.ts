/** The one thing that is asked of a site: to run a POSIX shell script. Files, jobs and checks are built on it. */
import { shellQuoted } from "../../shared/lib/shellQuoted.ts";

export interface ShellAsk {
  readonly input?: Buffer | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Seconds until it is ended; default 60. */
  readonly seconds?: number | undefined;
}

export interface ShellAnswer {
  /** Of the script. A connection that fails is an error instead. */
  readonly code: number;
  readonly stdout: Buffer;
  /** The last 64 KiB. */
  readonly stderr: string;
}

/** A shell on this machine, or on a host by ssh. */
export interface Shell {
  /** As messages name it: `this machine`, `box`. */
  readonly name: string;
  /**
   * Runs a script with `sh`, in the user's home.
   * @throws UserError with the code `site-unreachable` where the site does not answer: asking again later may help
   */
  run(script: string, ask?: ShellAsk): Promise<ShellAnswer>;
  close(): void;
}

/** A text as one word of a POSIX shell. A leading `~/` stays the user's home. */
export const shellWord = (text: string): string => {
  const [home, rest] = text === "~" || text.startsWith("~/") ? ['"$HOME"', text.slice(1)] : ["", text];
  return rest === "" && home !== "" ? home : `${home}${shellQuoted(rest)}`;
};
