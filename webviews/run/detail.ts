/** A part of the run in finer detail than the whole could be sent in, or smoothed: asked for, and drawn once it comes. */
import type { LiveStep } from "../../shared/editor/runPanel.ts";
import type { Series } from "../../shared/protocol/protocol.ts";
import { RunSeries } from "../shared/series.ts";
import { openEnd, type StepRange } from "./shownRange.ts";

/** Milliseconds between two questions about a run that goes on. */
const pace = 3_000;

export interface DetailWanted {
  /** null: the whole run. */
  readonly range: StepRange | null;
  readonly smooth: number;
  /** The whole came reduced, or has been since. */
  readonly reduced: boolean;
}
type Ask = (id: number, from: number, to: number, smooth: number) => void;

export class Detail {
  #series: RunSeries | null = null;
  #range: StepRange | null = null;
  #smooth = 0;
  #asked = 0;
  #at = Number.NEGATIVE_INFINITY;

  constructor(private readonly ask: Ask) {}

  /** To be drawn in the place of the whole; null: that is as good. */
  get series(): RunSeries | null {
    return this.#series;
  }

  /** What is known in detail is drawn until what is asked for comes, as far as it is a part of that. */
  want({ range, smooth, reduced }: DetailWanted): void {
    const known = this.#range;
    const within = known !== null && range !== null && range[0] >= known[0] && range[1] <= known[1];
    if (!within || smooth !== this.#smooth) this.clear();
    this.#smooth = smooth;
    const zoomed = range !== null && range[1] !== openEnd;
    if (!(smooth > 0 || (reduced && zoomed))) return;
    this.#asked++;
    this.#at = performance.now();
    const [from, to] = range ?? [0, openEnd];
    this.ask(this.#asked, from, to, smooth);
  }

  /** Whether the answer is that of the last question. */
  answered(id: number, series: readonly Series[], range: StepRange | null, attempt: number): boolean {
    if (id !== this.#asked) return false;
    this.#range = range;
    this.#series = new RunSeries();
    this.#series.load(series, attempt, range?.[0]);
    return true;
  }

  /** An average goes on in the daemon, from every point that it has seen: it is asked for again, now and then. */
  merge(step: LiveStep): void {
    if (this.#smooth === 0 && step.step <= (this.#range?.[1] ?? -1)) this.#series?.merge(step);
  }
  get isStale(): boolean {
    return this.#smooth > 0 && performance.now() - this.#at > pace;
  }

  clear(): void {
    this.#series = this.#range = null;
  }
}
