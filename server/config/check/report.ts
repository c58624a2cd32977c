/** Collects diagnostics and puts them into the file that is being checked. */
import type { Path, SourceEdits } from "../text/edits.ts";
import type { Range } from "../../lib/lines.ts";
import type { Diagnostic, Fix, Severity, Tag } from "./diagnostic.ts";
import type { Origin } from "../text/node.ts";
import { listed, nearest } from "../../lib/suggest.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

interface Related {
  readonly at: Origin | undefined;
  readonly message: string;
}

export interface DiagnosticReport {
  readonly rule: string;
  readonly message: string;
  readonly key: string;
  readonly at: Origin;
  readonly severity?: Severity;
  /** Fixes of the text at `at`: they do not apply if that is another file. */
  readonly fixes?: readonly Fix[];
  /** Fixes of the file that is checked, wherever `at` is: `ConfigModel.edits` makes them. */
  readonly fileFixes?: readonly (Fix | undefined)[];
  /** The rest of the config can still be built and looked at: a key that nothing reads. */
  readonly harmless?: boolean;
  /** A key that does not belong where it is: it can be removed, or moved to where it does. */
  readonly misplaced?: { readonly to?: string };
  /** The key that a misspelt one means: its value is there, and cannot be read. */
  readonly meant?: string | undefined;
  /** Other places involved, each with what it has to do with it. */
  readonly related?: readonly Related[];
  readonly tags?: readonly Tag[];
}
export type Report = (diagnostic: DiagnosticReport) => void;

export const replace = (range: Range, newText: string, title: string, preferred = true): Fix => ({
  title,
  edits: [{ range, newText }],
  preferred,
});

/** "… is not X. Allowed: …" with the nearest as a suggestion and a fix. `quoted` is where the wrong word is. */
export function unknownName(
  word: string,
  allowed: readonly string[],
  at: Origin,
): { hint: string; fixes: readonly Fix[]; meant: string | undefined } {
  const meant = nearest(word, allowed);
  const hint =
    allowed.length === 0
      ? "No value is allowed here."
      : meant === undefined
        ? `Allowed: ${listed(allowed)}.`
        : `Did you mean \`${meant}\`? Allowed: ${listed(allowed)}.`;
  const fixes = meant === undefined ? [] : [replace(at.range, meant, `Change to \`${meant}\``)];
  return { hint, fixes, meant };
}

/** A default or an option of the command line has no place to go to. */
const placesInFiles = (involved: readonly Related[]): NonNullable<Diagnostic["related"]> =>
  involved.flatMap(({ at, message }) =>
    at === undefined || at.layer === "set" || at.layer === "default"
      ? []
      : [{ file: at.file, range: at.range, message }],
  );

const pathOf = (key: string): Path =>
  key.split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : part));

/** Diagnostics whose fixes are looked for in the text; no one fixes more of them one by one. */
const mostFixed = 100;

const placed = ({ rule, message, range: { start } }: Diagnostic): string =>
  `${start.line}:${start.character} ${rule} ${message}`;

export class Collector {
  private readonly found = new Map<string, Diagnostic>();
  private readonly unreadable: string[] = [];
  private readonly misspelt: string[] = [];
  /** Whether something was found after which the config cannot be built. */
  blocked = false;

  /**
   * `extendsAt` gives the key of the main file by which another file's value came in, `edits` the fixes of the main
   * file once it has been read.
   */
  constructor(
    private readonly main: string,
    private readonly extendsAt: (origin: Origin) => Range,
    private readonly edits: () => SourceEdits | undefined = () => undefined,
  ) {}

  readonly report: Report = ({
    rule,
    message,
    key,
    at,
    severity = "error",
    fixes = [],
    harmless = false,
    fileFixes: edited = [],
    misplaced,
    meant,
    related: involved = [],
    tags,
  }) => {
    if (severity === "error" && !harmless) {
      this.blocked = true;
      this.unreadable.push(key);
    }
    if (meant !== undefined) this.misspelt.push(meant);
    const related = placesInFiles(involved);
    const own = [...edited, ...this.relocations(key, misplaced)].filter((fix) => fix !== undefined);
    const base = {
      severity,
      rule,
      key,
      file: this.main,
      ...(related.length === 0 ? {} : { related }),
      ...(tags === undefined ? {} : { tags }),
    };
    if (at.layer === "file" && at.file === this.main)
      this.add({ ...base, message, range: at.range, fixes: [...fixes, ...own] });
    else if (at.layer === "set")
      this.add({
        ...base,
        message: `in \`--set ${at.file}\`: ${message}`,
        range: this.extendsAt(at),
        fixes: [],
        option: { text: `--set ${at.file}`, message },
      });
    else if (at.layer === "default") this.add({ ...base, message, range: this.extendsAt(at), fixes: own });
    else {
      const { line, character } = at.range.start;
      const place = `${relativePath(process.cwd(), at.file)}:${line + 1}:${character + 1}`;
      this.add({
        ...base,
        message: `in ${place}: ${message}`,
        range: this.extendsAt(at),
        fixes: own,
        related: [{ file: at.file, range: at.range, message }, ...related],
      });
    }
  };

  private relocations(key: string, misplaced: DiagnosticReport["misplaced"]): (Fix | undefined)[] {
    if (misplaced === undefined || this.found.size >= mostFixed) return [];
    const edits = this.edits();
    if (edits === undefined) return [];
    const path = pathOf(key);
    const name = path.at(-1);
    const { to } = misplaced;
    return [
      to === undefined ? undefined : edits.move(path, pathOf(to), `Move \`${name}\` to \`${to}\``),
      edits.remove(path, `Remove \`${name}\``, false),
    ];
  }

  add(diagnostic: Diagnostic): void {
    const key = placed(diagnostic);
    if (!this.found.has(key)) this.found.set(key, diagnostic);
  }

  /** Keys of what cannot be read. */
  get keys(): readonly string[] {
    return this.unreadable;
  }

  /** Keys that misspelt ones mean. */
  get meant(): readonly string[] {
    return this.misspelt;
  }

  get failed(): boolean {
    return [...this.found.values()].some(({ severity }) => severity === "error");
  }

  /** In the order of the text. */
  get diagnostics(): readonly Diagnostic[] {
    return [...this.found.values()].sort(
      (a, b) => a.range.start.line - b.range.start.line || a.range.start.character - b.range.start.character,
    );
  }
}
