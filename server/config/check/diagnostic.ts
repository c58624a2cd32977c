/** A diagnostic of a config file: what the editor underlines, `validate` prints and a run refuses to start over. */
import type { Range } from "../../lib/lines.ts";
export type Severity = "error" | "warning" | "info";

export type Tag = "unnecessary" | "deprecated";
export interface TextEdit {
  /** Of a notebook: as a diagnostic's. */
  readonly cell?: number;
  readonly range: Range;
  readonly newText: string;
}
export interface Fix {
  readonly title: string;
  readonly edits: readonly TextEdit[];
  /** The only sensible fix: what `source.fixAll` applies. */
  readonly preferred?: boolean;
}
export interface Diagnostic {
  readonly severity: Severity;
  /** Stable id, kebab-case: names the rule's page. */
  readonly rule: string;
  /** What is wrong, what is allowed, what to do: never names the schema. */
  readonly message: string;
  /** `a.b.c`; empty for the whole file. */
  readonly key: string;
  readonly file: string;
  /** Of a notebook: the cell that the range is in, counted from 1 with the cells of text. */
  readonly cell?: number;
  readonly range: Range;
  readonly fixes: readonly Fix[];
  /** Where no file wrote the value: the option of the command line that did, and `message` without it. */
  readonly option?: { readonly text: string; readonly message: string };
  /** Other places that the diagnostic is about. */
  readonly related?: readonly {
    readonly file: string;
    /** In the place of the file: a document that lies on no disk. */
    readonly uri?: string;
    readonly cell?: number;
    readonly range: Range;
    readonly message: string;
  }[];
  /** unnecessary: nothing reads what is written there. */
  readonly tags?: readonly Tag[];
}
