/** Collects diagnostics and puts them into the file that is being checked. */
import { relative } from "node:path";
import type { Diagnostic, Fix, Range, Severity } from "./diagnostic.ts";
import type { Origin } from "./node.ts";
import { listed, nearest } from "./suggest.ts";

export interface Finding {
  readonly rule: string;
  readonly message: string;
  readonly key: string;
  readonly at: Origin;
  readonly severity?: Severity;
  readonly fixes?: readonly Fix[];
  /** The rest of the config can still be built and looked at: a key that nobody reads. */
  readonly harmless?: boolean;
}
export type Report = (finding: Finding) => void;

export const replace = (range: Range, newText: string, title: string, preferred = true): Fix => ({
  title,
  edits: [{ range, newText }],
  preferred,
});

/** "… is not X. Allowed: …" with the nearest as a suggestion and a fix. `quoted` is where the wrong word stands. */
export function unknownName(
  word: string,
  allowed: readonly string[],
  at: Origin,
): { hint: string; fixes: readonly Fix[] } {
  const meant = nearest(word, allowed);
  const hint =
    allowed.length === 0
      ? "Nothing is allowed here."
      : meant === undefined
        ? `Allowed: ${listed(allowed)}.`
        : `Did you mean \`${meant}\`? Allowed: ${listed(allowed)}.`;
  return { hint, fixes: meant === undefined ? [] : [replace(at.range, meant, `Change to \`${meant}\``)] };
}

const samePlace = (a: Diagnostic, b: Diagnostic): boolean =>
  a.rule === b.rule &&
  a.message === b.message &&
  a.range.start.line === b.range.start.line &&
  a.range.start.character === b.range.start.character;

export class Collector {
  private readonly found: Diagnostic[] = [];
  /** Whether something was found after which the config cannot be built. */
  blocked = false;

  /** `extendsAt` gives the key of the main file by which another file's value came in. */
  constructor(
    private readonly main: string,
    private readonly extendsAt: (origin: Origin) => Range,
  ) {}

  readonly report: Report = ({
    rule,
    message,
    key,
    at,
    severity = "error",
    fixes = [],
    harmless = false,
  }) => {
    if (severity === "error" && !harmless) this.blocked = true;
    const base = { severity, rule, key, file: this.main };
    if (at.layer === "file" && at.file === this.main) this.add({ ...base, message, range: at.range, fixes });
    else if (at.layer === "set")
      this.add({
        ...base,
        message: `in \`--set ${at.file}\`: ${message}`,
        range: this.extendsAt(at),
        fixes: [],
        option: { text: `--set ${at.file}`, message },
      });
    else if (at.layer === "default") this.add({ ...base, message, range: this.extendsAt(at), fixes: [] });
    else {
      const { line, character } = at.range.start;
      const place = `${relative(process.cwd(), at.file)}:${line + 1}:${character + 1}`;
      this.add({
        ...base,
        message: `in ${place}: ${message}`,
        range: this.extendsAt(at),
        fixes: [],
        related: [{ file: at.file, range: at.range, message }],
      });
    }
  };

  add(diagnostic: Diagnostic): void {
    if (!this.found.some((other) => samePlace(other, diagnostic))) this.found.push(diagnostic);
  }

  get failed(): boolean {
    return this.found.some(({ severity }) => severity === "error");
  }

  /** In the order of the text. */
  get diagnostics(): readonly Diagnostic[] {
    return [...this.found].sort(
      (a, b) => a.range.start.line - b.range.start.line || a.range.start.character - b.range.start.character,
    );
  }
}
