/** A rule about a framework: what it refuses, or accepts although it is harmful. One file each. */
import type { Json } from "../../../shared/lib/json.ts";
import type { Fix, Severity } from "../../config/check/diagnostic.ts";
import type { FrameworkDocument, Framework, Setting } from "../text/document.ts";
import type { KeyFact } from "../releases/tables/table.ts";

export interface RuleDiagnostic {
  readonly message: string;
  /** The setting that it is about; undefined for the file's head, if the file sets none of those involved. */
  readonly at: Setting | undefined;
  /** The key is wrong, not its value. */
  readonly onKey?: boolean;
  /** `error`: the framework refuses the file. `warning`: it accepts it, and it is harmful or never read. Default: the rule's. */
  readonly severity?: Severity;
  readonly fixes?: readonly Fix[];
  /** The other settings of the arithmetic. */
  readonly related?: readonly Setting[];
}

/** Reads settings over the framework's defaults. */
export interface RuleModel {
  readonly document: FrameworkDocument;
  /** The setting in force, if the file sets it. */
  written(key: string): Setting | undefined;
  /** The file's value, else the framework's default; undefined if it cannot be known. */
  value(key: string): Json | undefined;
  number(key: string): number | undefined;
  text(key: string): string | undefined;
  flag(key: string): boolean | undefined;
  /** What is known of a key in the document's release. */
  fact(key: string): KeyFact | undefined;
  /** Whether the document's release is at least this one. */
  since(version: string): boolean;
}

export interface FrameworkRule {
  /** Kebab-case, begins with the framework: `verl-mini-batch`. */
  readonly id: string;
  readonly framework: Framework;
  readonly severity: Severity;
  /** Trees of keys that it holds for; absent: those of the framework's main trainer. */
  readonly trees?: readonly string[];
  /** A heading, and for its page why the framework refuses it, with the file and function of its code. */
  readonly title: string;
  readonly why: string;
  check(model: RuleModel): readonly RuleDiagnostic[];
}
