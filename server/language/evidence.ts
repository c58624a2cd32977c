/** What runs have shown about a config: the daemon gives it; the language server alone has none. */
import type { RunStatus } from "../../shared/runStatus.ts";
import type { Diagnostic, Position } from "../config/check/diagnostic.ts";
import type { OpenConfig } from "./documents.ts";

/** Rollouts of one step, those that satisfy a condition (docs/protocol.md, `where`). */
export interface RolloutsLink {
  readonly run: string;
  readonly name: string;
  readonly step: number;
  readonly where?: string;
}

export interface EvidenceFinding extends Diagnostic {
  readonly severity: "info" | "warning";
  /** What it was seen in. */
  readonly rollouts?: RolloutsLink;
}

/** Worth knowing, and nothing to do about: shown behind the line that it is about. */
export interface EvidenceNote {
  readonly key: string;
  /** Behind the line's text. */
  readonly at: Position;
  readonly label: string;
  /** Markdown. */
  readonly detail: string;
}

/** The last run of a config file, as far as its store has read it. */
export interface LastRun {
  readonly run: string;
  readonly name: string;
  readonly status: RunStatus;
  /** Last committed step, −1 before the first. */
  readonly step: number;
  readonly steps: number;
  readonly stage: string | null;
  readonly headline: {
    readonly metric: string;
    readonly value: number;
    /** The last tenth of the run (at least 5 steps) against as many before; level: within their noise. */
    readonly trend: "up" | "down" | "level";
  } | null;
  /** Median wall time of a step of the present stage; null before its first. */
  readonly secondsPerStep: number | null;
  /** Median tokens written in a step of the present stage. */
  readonly tokensPerStep: number | null;
}

export interface EvidenceSettings {
  readonly enabled: boolean;
  /** Steps that are looked back on. */
  readonly window: number;
}
export const usualEvidence: EvidenceSettings = { enabled: true, window: 100 };

/** Everything holds for the values that the run had: what is said of a line goes when its value changes, and comes back. */
export interface Evidence {
  /** Findings from this file's last run, placed in its text. */
  diagnostics?(config: OpenConfig): readonly EvidenceFinding[];
  notes?(config: OpenConfig): readonly EvidenceNote[];
  /** Markdown about a value, by its path (`reward.terms.brevity`), for hovers. */
  hover?(config: OpenConfig, key: string): string | undefined;
  lastRun?(file: string): LastRun | undefined;
  /** What the person wishes to see of it. */
  configure?(settings: EvidenceSettings): void;
  /** Calls back when a file's evidence has changed: a live run's every few seconds at most. */
  onChange?(listener: (file: string) => void): { dispose(): void };
}
