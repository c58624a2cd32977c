/** Text assembled from pieces of a file, as a shell substitutes variables: each letter keeps its offset. */

/** Offsets into the file, the end exclusive. */
export interface CodeSpan {
  readonly start: number;
  readonly end: number;
}

/** The substitutions through which a letter came, outermost first: `$ARGS`, then the `$X` inside what ARGS was set to. */
export type Trail = readonly CodeSpan[];

export interface Traced {
  readonly text: string;
  /** Each letter's offset in the file; for a computed letter, the start of what computes it. */
  readonly offsets: readonly number[];
  readonly trails: readonly Trail[];
}

const outside: Trail = [];

export const traced = (text: string, start = 0): Traced => ({
  text,
  offsets: Array.from({ length: text.length }, (_, i) => start + i),
  trails: new Array<Trail>(text.length).fill(outside),
});

/** The span of letters `from` to `to`, at the level of the least substituted of them. */
export function placeOf(
  { offsets, trails }: Traced,
  from: number,
  to: number,
): { span: CodeSpan; trail: Trail } {
  let trail = trails[from] ?? outside;
  for (let i = from + 1; i < to; i++) if (trails[i]!.length < trail.length) trail = trails[i]!;
  let [start, end] = [Number.POSITIVE_INFINITY, 0];
  for (let i = from; i < to; i++) {
    const outer = trails[i]![trail.length];
    start = Math.min(start, outer?.start ?? offsets[i]!);
    end = Math.max(end, outer?.end ?? offsets[i]! + 1);
  }
  return { span: from < to ? { start, end } : { start: 0, end: 0 }, trail };
}

/** Collects letters. */
export class Tracing {
  private text = "";
  private readonly offsets: number[] = [];
  private readonly trails: Trail[] = [];

  /** Letters `from` to `to` of another text, as they are. */
  add(source: Traced, from = 0, to = source.text.length): this {
    this.text += source.text.slice(from, to);
    for (let i = from; i < to; i++) {
      this.offsets.push(source.offsets[i]!);
      this.trails.push(source.trails[i]!);
    }
    return this;
  }

  /** One letter that replaces another of the file. */
  letter(text: string, offset: number): this {
    this.text += text;
    this.offsets.push(offset);
    this.trails.push(outside);
    return this;
  }

  /** Adds the value of a substitution. */
  through(value: Traced, span: CodeSpan, trail: Trail): this {
    return this.add(throughSubstitution(value, span, trail));
  }

  /** Text that is not in the file: a result. */
  computed(text: string, span: CodeSpan, trail: Trail): this {
    const own = [...trail, span];
    this.text += text;
    for (let i = 0; i < text.length; i++) {
      this.offsets.push(span.start);
      this.trails.push(own);
    }
    return this;
  }

  get whole(): Traced {
    return { text: this.text, offsets: this.offsets, trails: this.trails };
  }
}

/** The same letters, substituted at `span`. */
export function throughSubstitution<T extends Traced>(value: T, span: CodeSpan, trail: Trail): T {
  const made = new Map<Trail, Trail>();
  const longer = (old: Trail): Trail => {
    const known = made.get(old);
    if (known !== undefined) return known;
    const fresh = [...trail, span, ...old];
    made.set(old, fresh);
    return fresh;
  };
  return { ...value, trails: value.trails.map(longer) };
}

/** Whether a letter is a result rather than written text. */
export const isComputed = (offset: number, trail: Trail): boolean => trail.at(-1)?.start === offset;
