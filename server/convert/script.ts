/** What a launch script runs, as plain words. */
import { readScript as read } from "../foreign/shell/script.ts";

export interface Launch {
  readonly words: readonly string[];
  /** 0-based line of its first word. */
  readonly line: number;
}
export interface Script {
  readonly launches: readonly Launch[];
  /** Variables that the script reads and nobody sets. */
  readonly unset: readonly string[];
}

/** Every command with arguments that the script would run, in order. */
export function readScript(text: string): Script {
  const { launches, unset } = read(text);
  return {
    launches: launches.map(({ words, line }) => ({ line, words: words.map((word) => word.text) })),
    unset: [...unset.keys()],
  };
}
