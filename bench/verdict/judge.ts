/** The verdict on kept runs, against what is known of them. */
import { Timeline } from "../../server/analysis/verdict/timeline.ts";
import { isAlarm, type VerdictState } from "../../shared/run/verdict.ts";
import { keptRuns, type KeptRun, type SetName } from "./corpus.ts";

export interface Judged {
  readonly run: KeptRun;
  readonly last: VerdictState;
  /** Alarms that were raised at some step. */
  readonly alarms: readonly {
    readonly state: VerdictState;
    readonly from: number;
    readonly since: number | null;
  }[];
  /** Whether the verdict was wrong: an alarm on a healthy run at any time, or another state than a failing run's at its end. */
  readonly wrong: boolean;
}

export const judge = (set: SetName): readonly Judged[] =>
  keptRuns(set).map((run) => {
    const { spans } = new Timeline(run.record).extend(run.record);
    const last = spans.at(-1)?.finding.state ?? "too early";
    const alarms = spans
      .filter(({ finding }) => isAlarm(finding.state))
      .map(({ finding, from }) => ({ state: finding.state, from, since: finding.since }));
    const wrong = run.failing === null ? alarms.length > 0 : !run.failing.states.includes(last);
    return { run, last, alarms, wrong };
  });

/** One line a recipe: how its runs ended, and what was wrong. */
export function lines(judged: readonly Judged[]): readonly string[] {
  const recipes = [...new Set(judged.map(({ run }) => run.recipe))];
  return recipes.map((recipe) => {
    const own = judged.filter(({ run }) => run.recipe === recipe);
    const ended = [...new Set(own.map(({ last }) => last))]
      .map((state) => `${own.filter(({ last }) => last === state).length} ${state}`)
      .join(", ");
    const wrong = own.filter((one) => one.wrong);
    const alarms = wrong.map(
      ({ run, alarms }) => `${run.id} ${alarms.map(({ state, from }) => `${state} at ${from}`).join(", ")}`,
    );
    const kind = own[0]!.run.failing === null ? "healthy" : "failing";
    return `${kind} ${recipe.padEnd(34)} ${ended}${wrong.length === 0 ? "" : `   WRONG: ${alarms.join("; ")}`}`;
  });
}
