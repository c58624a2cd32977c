/** One question at a time; those that only follow a live run keep their distance. */
import type { CurriculumView } from "../../../shared/editor/runPanel.ts";

/** Milliseconds between two questions while the run trains. */
const pace = 2_000;

export class LanesQuestions {
  #id = 0;
  #last: CurriculumView | null = null;
  #at = Number.NEGATIVE_INFINITY;
  #waiting = false;
  #next: CurriculumView | null = null;
  /** A question is queued. */
  #timed = false;

  constructor(private readonly send: (id: number, view: CurriculumView) => void) {}

  ask(view: CurriculumView): void {
    this.#next = view;
    this.#go();
  }
  /** Whether the answer is that of the last question. @param isPart it reads on at the next one */
  answered(id: number, isPart = false): boolean {
    if (id !== this.#id) return false;
    this.#waiting = false;
    if (isPart) {
      this.#last = null;
      setTimeout(() => this.#go(), pace / 10);
    }
    return true;
  }
  failed(): void {
    this.#waiting = false;
  }

  #go(): void {
    const [view, last] = [this.#next, this.#last];
    if (view === null || (last !== null && sameView(last, view))) return;
    const turned =
      last?.arm !== view.arm || last.family !== view.family || last.from !== view.from || view.to < last.to;
    const wait = turned ? 0 : Math.max(this.#waiting ? pace / 10 : 0, this.#at + pace - performance.now());
    if (wait > 0) {
      if (!this.#timed)
        setTimeout(() => {
          this.#timed = false;
          this.#go();
        }, wait);
      this.#timed = true;
      return;
    }
    [this.#last, this.#at, this.#waiting] = [view, performance.now(), true];
    this.send(++this.#id, view);
  }
}

const sameView = (one: CurriculumView | null, other: CurriculumView): boolean =>
  one !== null &&
  one.arm === other.arm &&
  one.family === other.family &&
  one.from === other.from &&
  one.to === other.to;
