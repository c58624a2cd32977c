/** Answers `gradus/runs/verdict`: what the store finds in a run's numbers, with what its rollouts add. */
import type { ParamsOf, ResultOf, runsVerdict } from "../../../shared/protocol/protocol.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { isAlarm, type Verdict } from "../../../shared/run/verdict.ts";
import { exemplarsOf } from "../../analysis/verdict/exemplars.ts";
import { isCause, pressureOf } from "../../analysis/verdict/pressure.ts";
import { sampleOf } from "../../analysis/rescore/sweep.ts";
import { valueAt } from "../../analysis/evidence/json.ts";
import type { RemoteStore } from "../../store/remote.ts";
import type { Rescorer } from "../rescore/rescorer.ts";
import { withEffects } from "./effects.ts";

type Remote = Pick<RemoteStore, "call">;

/** Steps whose rollouts are read for the cause, and rollouts of one. */
const [causeSteps, mostRollouts] = [4, 512];

export async function verdict(
  remote: Remote,
  rescorer: Rescorer,
  asked: ParamsOf<typeof runsVerdict>,
): Promise<ResultOf<typeof runsVerdict>> {
  const { verdict: found } = await remote.call("verdict", asked);
  if (found === null || !isAlarm(found.state)) return { verdict: found };
  const steps = (await remote.call("rolloutSteps", asked.run)).filter((step) => step <= found.step);
  const last = steps.at(-1);
  if (last === undefined) return { verdict: found };
  const rows = await rolloutsOf(remote, asked.run, last);
  const term = found.cause?.term ?? null;
  const shown = term !== null && (await isShown(remote, asked.run, found, steps));
  const told: Verdict = {
    ...found,
    headline: shown ? found.headline.replace(" together with ", " because of ") : found.headline,
    cause: found.cause === null ? null : { ...found.cause, shown },
    rollouts: exemplarsOf({ state: found.state, term }, rows),
  };
  return { verdict: await withEffects(remote, rescorer, told, { run: asked.run, steps }) };
}

const rolloutsOf = async (remote: Remote, run: string, step: number): Promise<readonly RolloutRow[]> =>
  (await remote.call("rollouts", { run, step, where: 'use == "train"', tokens: false, limit: mostRollouts }))
    .rollouts;

/** Whether the push towards the term is gone when the steps since it began are scored without it. */
async function isShown(
  remote: Remote,
  run: string,
  { cause, since, step: to }: Verdict,
  steps: readonly number[],
): Promise<boolean> {
  const term = cause?.term;
  if (term === null || term === undefined) return false;
  const looked = sampleOf(
    steps.filter((step) => step >= (since ?? 0)),
    causeSteps,
  );
  const rows = (await Promise.all(looked.map((step) => rolloutsOf(remote, run, step)))).flat();
  const metric = `reward/${term}/weight`;
  const { series } = await remote.call("series", {
    run,
    metrics: [metric],
    from: Math.min(...looked) - 1,
    to,
    maxPoints: 2_000,
  });
  const weight = series[0]?.values.at(-1) ?? 1;
  const { config } = await remote.call("show", { run });
  const scale = valueAt(config, ["advantage", "scale", "use"]) ?? valueAt(config, ["advantage", "scale"]);
  return isCause(pressureOf(rows, term, { weight, scaled: scale === undefined || scale === "group_std" }));
}
