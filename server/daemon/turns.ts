/**
 * Questions of one connection to the store's thread, which answers one after the other for all: so many at a time, so that
 * a client that asks a thousand things at once does not come before everybody else.
 */
import {
  curriculumQuery,
  evaluationsQuery,
  eventsQuery,
  groupsQuery,
  matrixQuery,
  metricsNames,
  metricsSeries,
  rolloutsQuery,
  runsList,
  runsShow,
  runsVerdict,
  tasksQuery,
} from "../../shared/protocol/protocol.ts";

const questions: ReadonlySet<string> = new Set(
  [
    runsList,
    runsShow,
    runsVerdict,
    metricsNames,
    metricsSeries,
    groupsQuery,
    curriculumQuery,
    rolloutsQuery,
    eventsQuery,
    evaluationsQuery,
    tasksQuery,
    matrixQuery,
  ].map(({ method }) => method),
);
/** Two: while one answer is made the next question is at hand. */
const together = 2;

export class Turns {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  async take<Result>(method: string, act: () => Promise<Result>): Promise<Result> {
    if (!questions.has(method)) return act();
    if (this.running >= together) await new Promise<void>((next) => this.waiting.push(next));
    else this.running += 1;
    try {
      return await act();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.running -= 1;
      else next();
    }
  }
}
