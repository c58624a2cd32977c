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
import { Limited } from "../lib/waiting/limited.ts";

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
  private readonly questions = new Limited(together);

  take<Result>(method: string, act: () => Promise<Result>): Promise<Result> {
    return questions.has(method) ? this.questions.run(act) : act();
  }
}
