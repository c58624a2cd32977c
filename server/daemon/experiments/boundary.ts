/** Two evaluations that the store holds at the boundary of what their models can do: nothing is evaluated for it. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { EvaluationRow, ParamsOf, ResultOf, runsBoundary } from "../../../shared/protocol/protocol.ts";
import type { EvaluatedAt } from "../../../shared/run/boundaryReport.ts";
import type { TaskResults } from "../../../shared/run/taskResults.ts";
import type { ComparedStore } from "./compare.ts";
import type { Experimenter } from "./experiment.ts";

interface Evaluation extends EvaluatedAt {
  readonly results: TaskResults;
}

export async function boundaryBetween(
  store: Pick<ComparedStore, "evaluations">,
  { own, other }: ParamsOf<typeof runsBoundary>,
  experiment: Experimenter,
): Promise<ResultOf<typeof runsBoundary>> {
  const runs = [...new Set([other.run, own.run])];
  const found = new Map<string, readonly Evaluation[]>();
  for (const run of runs)
    found.set(run, told(run, (await store.evaluations({ run, tasks: true })).evaluations));
  const [first, second] = [chosen(found.get(own.run)!, own), chosen(found.get(other.run)!, other)];
  const place = ({ run, step }: Evaluation): EvaluatedAt => ({ run, step });
  return {
    own: place(first),
    other: place(second),
    evaluations: [...found.values()].flat().map(place),
    ...(await experiment<"boundary">({ kind: "boundary", own: first.results, other: second.results })),
  };
}

const told = (run: string, evaluations: readonly EvaluationRow[]): readonly Evaluation[] =>
  evaluations.flatMap(({ step, results }) => (results === undefined ? [] : [{ run, step, results }]));

/** @throws UserError where the run has no such evaluation, or none that says how each task went */
function chosen(
  evaluations: readonly Evaluation[],
  { run, step }: { readonly run: string; readonly step?: number | undefined },
): Evaluation {
  const found = step === undefined ? evaluations.at(-1) : evaluations.find((one) => one.step === step);
  if (found !== undefined) return found;
  throw new UserError(
    step === undefined
      ? `${run} has no evaluation with results by task.`
      : `${run} has no evaluation with results by task after step ${step}.`,
    { code: "boundary-none", action: "Runs of earlier versions and imported ones have none." },
  );
}
