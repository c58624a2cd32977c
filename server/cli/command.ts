/** What a file of this folder exports: one command of `gradus`. */
import type { Command as Program } from "commander";

export interface Command {
  readonly name: string;
  /** Adds arguments, options and the action to a fresh subcommand. The action sets `process.exitCode`. */
  configure(program: Program): void;
}

/** Exit codes: 1 for a finding of severity error or a failure, 2 for wrong usage. */
export const exit = { ok: 0, failed: 1, usage: 2 } as const;

/** stdout carries results only; everything else goes to stderr. */
export const print = (text: string): void => void process.stdout.write(`${text}\n`);
export const printJson = (value: unknown): void => print(JSON.stringify(value));
export const complain = (text: string): void => void process.stderr.write(`${text}\n`);
