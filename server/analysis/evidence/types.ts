/** What runs have shown about a config, as the editor shows it. */
import type { RunStatus } from "../../../shared/protocol/runStatus.ts";
import type { Position } from "../../lib/lines.ts";
import type { Diagnostic } from "../../config/check/diagnostic.ts";

/** Rollouts of one step, those that satisfy a condition (docs/protocol.md, `where`). */
interface RolloutsLink {
  readonly run: string;
  readonly name: string;
  readonly step: number;
  readonly where?: string;
}

export interface EvidenceDiagnostic extends Diagnostic {
  readonly severity: "info" | "warning";
  /** What it was seen in. */
  readonly rollouts?: RolloutsLink;
}

/** Worth knowing, and nothing to do about: at the end of the line that it is about. */
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
