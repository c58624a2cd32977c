/**
 * Which step each line of a log is of, and of which attempt: a training that was started again writes on in the same file. What
 * does not say its step is counted.
 */
import type { Printed } from "./printed.ts";

export interface Placed {
  readonly step: number;
  /** From 0. */
  readonly attempt: number;
}

/** A step that goes back begins a new attempt. */
export interface Restart {
  readonly after: number;
  readonly at: number;
}

export class Attempts {
  readonly restarts: Restart[] = [];
  /** Lines that did not say their step. */
  counted = 0;
  private last = Number.NEGATIVE_INFINITY;
  /** Epochs of the counted lines of this attempt; those before it that it did not make again count on. */
  private readonly epochs: number[] = [];

  /** @param every steps between two counted lines */
  constructor(private readonly every: number) {}

  /** Counted lines of the attempt so far. */
  get lines(): number {
    return this.epochs.length;
  }

  place(printed: Exclude<Printed, { kind: "bar" }>): Placed {
    const step = this.stepOf(printed);
    if (step < this.last) this.restarts.push({ after: this.last, at: step });
    this.last = step;
    return { step, attempt: this.restarts.length };
  }

  private stepOf(printed: Exclude<Printed, { kind: "bar" }>): number {
    switch (printed.kind) {
      case "step":
        return printed.step;
      case "evaluated":
        return this.epochs.length > 0 ? this.epochs.length * this.every : Math.max(0, this.last);
      case "counted": {
        const epoch = printed.data["epoch"] ?? 0;
        if (epoch < (this.epochs.at(-1) ?? epoch))
          while (this.epochs.length > 0 && this.epochs.at(-1)! >= epoch) this.epochs.pop();
        this.epochs.push(epoch);
        this.counted += 1;
        return this.epochs.length * this.every;
      }
    }
  }
}

/** How far apart the counted lines are, by the progress bars between them. */
export class Bars {
  private readonly byTotal = new Map<
    number,
    { line: number; done: number; every: number; seen: number; falls: boolean }
  >();
  private latest: { readonly done: number; readonly of: number } | undefined;

  see(found: { readonly done: number; readonly of: number }): void {
    this.latest = found;
  }

  /** @param lines counted so far in this attempt, the one before which the bars stood not among them */
  line(lines: number): void {
    const { latest } = this;
    this.latest = undefined;
    if (latest === undefined || (this.byTotal.size >= mostTotals && !this.byTotal.has(latest.of))) return;
    const known = this.byTotal.get(latest.of);
    const began = known === undefined || lines <= known.line;
    if (began)
      this.byTotal.set(latest.of, {
        line: lines,
        done: latest.done,
        every: known?.every ?? 0,
        seen: 1 + (known?.seen ?? 0),
        falls: known?.falls ?? false,
      });
    else {
      known.every = Math.round((latest.done - known.done) / (lines - known.line));
      known.falls ||= latest.done < known.done;
      known.seen += 1;
    }
  }

  /** Of the training's own bar; undefined: there is none. */
  get found(): { readonly every: number; readonly planned: number } | undefined {
    const [best] = [...this.byTotal]
      .filter(([total, { every, falls }]) => every >= 1 && every <= total && !falls)
      .sort(([, one], [, other]) => other.seen - one.seen);
    return best === undefined ? undefined : { every: best[1].every, planned: best[0] };
  }
}
/** A log has bars of its training, its loading and its evaluations; of more the others are not looked at. */
const mostTotals = 64;
