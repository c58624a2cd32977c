/** One kind of evidence: what it looks for in a run, and what it says of which value. One file each. */
import type { VerdictFix } from "../../../shared/run/verdict.ts";
import type { RunView } from "./view.ts";

/** What a sighting holds for: gone when the config's value is no longer the run's, back when it is again. */
export interface Read {
  /** As `--set` addresses it, at top level; a stage's own value is meant where it writes one. */
  readonly path: string;
  /** Keys of the value that change nothing of what was seen. */
  readonly except?: readonly string[];
}

interface SightingBase {
  /** The value it is about. */
  readonly at: string;
  readonly reads: readonly Read[];
  /** The reward term whose file must be as it was, too. */
  readonly term?: string;
  /** Sentences. */
  readonly message: string;
  /** Its course is drawn in the hover. */
  readonly metric?: string;
}
/** Something to do something about. */
export interface DiagnosticSighting extends SightingBase {
  readonly level: "diagnostic";
  readonly rollouts?: { readonly step: number; readonly where: string };
  /** Where there is nothing: `info`. */
  readonly severity?: "warning";
  /** Edits of the config that answer it. */
  readonly fixes?: readonly VerdictFix[];
  /** Lines of other files that it is about; line and column from 1. */
  readonly places?: readonly {
    readonly file: string;
    readonly uri: string;
    readonly line: number;
    readonly column: number;
    readonly message: string;
  }[];
}
/** Something to know. */
interface NoteSighting extends SightingBase {
  readonly level: "note";
  /** At the end of the line. */
  readonly label: string;
}
export type Sighting = DiagnosticSighting | NoteSighting;

export interface EvidenceKind {
  /** Rule id: `run-…`. */
  readonly id: string;
  see(view: RunView): Sighting | readonly Sighting[];
}

/** Fewer steps say nothing yet. */
export const enough = 20;
