/** What runs have shown about a config: the daemon gives it; the language server alone has none. */
import type { Diagnostic } from "../config/diagnostic.ts";

export interface Evidence {
  /** Findings from this file's runs, placed in its text. */
  diagnostics?(file: string, text: string): readonly Diagnostic[];
  /** A line of Markdown about a value, by its path (`reward.terms.brevity`), for hovers. */
  hover?(file: string, key: string): string | undefined;
  /** Calls back when a file's evidence has changed. */
  onChange?(listener: (file: string) => void): { dispose(): void };
}
