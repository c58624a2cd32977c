/** A deterministic automaton over code points, its states made when they are first reached. */
import { UserError } from "../../../shared/lib/errors.ts";
import { firstWhere } from "../../../shared/lib/firstWhere.ts";
import type { CodePoints, Expression } from "./regex.ts";

/** Thompson's construction: a state has one edge over characters, or some over nothing. */
interface Knot {
  readonly of: CodePoints | undefined;
  readonly next: number[];
}
const MOST_KNOTS = 50_000;

class Knots {
  readonly all: Knot[] = [];
  add(of: CodePoints | undefined, next: readonly number[] = []): number {
    if (this.all.length >= MOST_KNOTS)
      throw new UserError("The grammar is too large.", {
        code: "grammar-size",
        action: "Count less in braces, or use an unbounded repetition with rollout.max_tokens.",
      });
    return this.all.push({ of, next: [...next] }) - 1;
  }
  /** The beginning of a machine for the expression that goes on to `end`. */
  build(expression: Expression, end: number): number {
    switch (expression.kind) {
      case "one":
        return this.add(expression.of, [end]);
      case "sequence":
        return expression.parts.reduceRight((next, part) => this.build(part, next), end);
      case "either":
        return this.add(
          undefined,
          expression.parts.map((part) => this.build(part, end)),
        );
      case "repeat":
        return this.repeat(expression, end);
    }
  }
  private repeat({ of, least, most }: Extract<Expression, { kind: "repeat" }>, end: number): number {
    let next = end;
    if (most === Infinity) {
      next = this.add(undefined, [end]);
      this.all[next]!.next.push(this.build(of, next));
    } else for (let i = least; i < most; i++) next = this.add(undefined, [end, this.build(of, next)]);
    for (let i = 0; i < least; i++) next = this.build(of, next);
    return next;
  }
}

/** A set of knots that one text leads to. */
export interface AutomatonState {
  readonly knots: readonly number[];
  /** The text so far is a whole one. */
  readonly accepting: boolean;
  readonly steps: Map<number, AutomatonState | undefined>;
}

const END = 0;

export class Automaton {
  readonly start: AutomatonState;
  private readonly knots = new Knots();
  private readonly live: Uint8Array;
  private readonly places = new Map<string, AutomatonState>();

  /**
   * @param writable characters, ascending, that can be written each by itself: no place is entered from which only
   * others lead on.
   * @throws UserError where the expression is too large, or matches nothing that can be written
   */
  constructor(expression: Expression, writable: ArrayLike<number>) {
    this.knots.add(undefined);
    const first = this.knots.build(expression, END);
    this.live = liveKnots(this.knots.all, writable);
    const start = this.place([first]);
    if (start === undefined)
      throw new UserError("The model's vocabulary cannot write any text that the grammar allows.", {
        code: "grammar-vocabulary",
        action: "Use characters that are tokens of the model, or another model.",
      });
    this.start = start;
  }
  /** Where a character leads; undefined: to nothing that could become a whole text. */
  step(place: AutomatonState, character: number): AutomatonState | undefined {
    if (place.steps.has(character)) return place.steps.get(character);
    const reached = place.knots.flatMap((knot) => {
      const { of, next } = this.knots.all[knot]!;
      return of !== undefined && contains(of, character) ? next : [];
    });
    const found = this.place(reached);
    place.steps.set(character, found);
    return found;
  }
  /** Every live knot leads to the end, so a place without any is the only dead one. */
  private place(from: readonly number[]): AutomatonState | undefined {
    const seen = new Set<number>();
    const open = [...from];
    for (let knot = open.pop(); knot !== undefined; knot = open.pop()) {
      if (seen.has(knot) || this.live[knot] === 0) continue;
      seen.add(knot);
      const { of, next } = this.knots.all[knot]!;
      if (of === undefined) open.push(...next);
    }
    if (seen.size === 0) return undefined;
    const knots = [...seen].sort((a, b) => a - b);
    const key = knots.join();
    const found = this.places.get(key) ?? { knots, accepting: seen.has(END), steps: new Map() };
    this.places.set(key, found);
    return found;
  }
}

/** 1 for knots from which the end is reached over writable characters. */
function liveKnots(knots: readonly Knot[], writable: ArrayLike<number>): Uint8Array {
  const before: number[][] = knots.map(() => []);
  knots.forEach(({ of, next }, knot) => {
    if (of === undefined || intersects(of, writable)) for (const target of next) before[target]!.push(knot);
  });
  const live = new Uint8Array(knots.length);
  const open = [END];
  for (let knot = open.pop(); knot !== undefined; knot = open.pop()) {
    if (live[knot] === 1) continue;
    live[knot] = 1;
    open.push(...before[knot]!);
  }
  return live;
}

function intersects(set: CodePoints, ascending: ArrayLike<number>): boolean {
  return set.some(([from, to]) => {
    const place = firstWhere(ascending.length, (at) => ascending[at]! >= from);
    return place < ascending.length && ascending[place]! <= to;
  });
}

function contains(set: CodePoints, character: number): boolean {
  let [low, high] = [0, set.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [from, to] = set[middle]!;
    if (character < from) high = middle - 1;
    else if (character > to) low = middle + 1;
    else return true;
  }
  return false;
}
