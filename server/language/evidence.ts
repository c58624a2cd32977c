/** What runs have shown about a config: the daemon gives it; the language server alone has none. */
import type { EvidenceDiagnostic, EvidenceNote, LastRun } from "../analysis/evidence/types.ts";
import type { OpenConfig } from "./documents.ts";

export interface EvidenceSettings {
  readonly enabled: boolean;
  /** Steps that are looked back on. */
  readonly window: number;
}
export const usualEvidence: EvidenceSettings = { enabled: true, window: 100 };

/** Everything holds for the values that the run had: what is said of a line goes when its value changes, and comes back. */
export interface Evidence {
  /** Diagnostics from this file's last run, placed in its text. */
  diagnostics?(config: OpenConfig): readonly EvidenceDiagnostic[];
  notes?(config: OpenConfig): readonly EvidenceNote[];
  /** Markdown about a value, by its path (`reward.terms.brevity`), for hovers. */
  hover?(config: OpenConfig, key: string): string | undefined;
  lastRun?(file: string): LastRun | undefined;
  /** What the person editor to see of it. */
  configure?(settings: EvidenceSettings): void;
  /** Calls back when a file's evidence has changed: a live run's every few seconds at most. */
  onChange?(listener: (file: string) => void): { dispose(): void };
}
