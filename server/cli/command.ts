/** What a file of this folder exports: one command of `gradus`. */
import type { Command as Program } from "commander";
import { visibleJson } from "../../shared/lib/visibleText.ts";
import { forTerminal } from "./text/terminal.ts";

export interface Command {
  readonly name: string;
  /**
   * Adds arguments, options and the action to a fresh subcommand. The action sets `process.exitCode`.
   * @param words what follows the command's name on the command line
   */
  configure(program: Program, words: readonly string[]): void | Promise<void>;
}

/** Exit codes: 1 for a diagnostic of severity error or a failure, 2 for wrong usage. */
export const exit = { ok: 0, failed: 1, usage: 2 } as const;

/** stdout carries results only; everything else goes to stderr. Both show control characters and send none but our colours. */
export const print = (text: string): void => void process.stdout.write(`${forTerminal(text)}\n`);
export const complain = (text: string): void => void process.stderr.write(`${forTerminal(text)}\n`);
/** What is another program's input: byte for byte, but in a terminal. */
export const printExactly = (text: string): void =>
  void process.stdout.write(`${process.stdout.isTTY ? forTerminal(text) : text}\n`);
export const printJson = (value: unknown): void => void process.stdout.write(`${visibleJson(value)}\n`);
