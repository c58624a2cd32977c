/** Verdicts of runs: what the store finds in a run's numbers, with what its rollouts add to an alarm. */
import type { ParamsOf, ResultOf, runsVerdict } from "../../../shared/protocol/protocol.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { isAlarm, type Verdict } from "../../../shared/run/verdict.ts";
import { sampleOf } from "../../analysis/rescore/sweep.ts";
import { exemplarsOf } from "../../analysis/verdict/exemplars.ts";
import { factsOf } from "../../analysis/verdict/facts.ts";
import { isCause, pressureOf } from "../../analysis/verdict/pressure.ts";
import { window } from "../../analysis/verdict/trail.ts";
import { withCause } from "../../analysis/verdict/words/label.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { diskFull } from "../../store/drivers/fullDisk.ts";
import type { RemoteStore } from "../../store/remote.ts";
import type { Rescorer } from "../rescore/rescorer.ts";
import { withEffects } from "./effects.ts";

/** Steps whose rollouts are read for the cause, and rollouts of one. */
const [causeSteps, mostRollouts] = [4, 512];
/** Milliseconds for which what rollouts say of a live run's alarm is kept: the next step changes little of it. */
const pace = 10_000;

type Added = Pick<Verdict, "cause" | "rollouts" | "fixes">;

export class Verdicts {
  /** By run, of live ones. */
  private readonly known = new Map<
    string,
    { readonly key: string; readonly at: number; readonly added: Added }
  >();

  constructor(
    private readonly remote: Pick<RemoteStore, "call">,
    private readonly rescorer: Rescorer,
  ) {}

  async of(asked: ParamsOf<typeof runsVerdict>): Promise<ResultOf<typeof runsVerdict>> {
    const { verdict } = await this.remote.call("verdict", asked);
    if (verdict === null || !isAlarm(verdict.state)) return { verdict };
    const added = await this.addedIfRead(asked, verdict);
    return { verdict: added === null ? verdict : withCause({ ...verdict, ...added }) };
  }

  /** null also where the disk is full: rollouts that have not been read yet cannot be, and the verdict holds without them. */
  private async addedIfRead(
    { run, to }: ParamsOf<typeof runsVerdict>,
    verdict: Verdict,
  ): Promise<Added | null> {
    try {
      return await (to === undefined ? this.addedLately(run, verdict) : this.added(run, verdict));
    } catch (error) {
      if (error instanceof UserError && error.detail.code === diskFull) return null;
      throw error;
    }
  }

  private async addedLately(run: string, verdict: Verdict): Promise<Added | null> {
    const summary = await this.remote.call("summary", run);
    const live = summary !== null && isLive(summary.status);
    const key = `${summary?.attempt} ${verdict.state} ${verdict.since}`;
    const known = this.known.get(run);
    if (live && known?.key === key && performance.now() - known.at < pace) return known.added;
    const added = await this.added(run, verdict);
    if (live && added !== null) this.known.set(run, { key, at: performance.now(), added });
    else this.known.delete(run);
    return added;
  }

  /** null: there are no rollouts up to the verdict's step. */
  private async added(run: string, verdict: Verdict): Promise<Added | null> {
    const steps = (await this.remote.call("rolloutSteps", run)).filter((step) => step <= verdict.step);
    const last = steps.at(-1);
    if (last === undefined) return null;
    const { state, cause, since } = verdict;
    // Where it began, rollouts still differ: once a policy gives one answer to everything, none is reinforced.
    const began = state === "starved" || state === "failing" ? last : (since ?? last);
    const rows = await this.rollouts(run, steps.find((step) => step >= began) ?? last);
    const shown = await this.isShown(run, verdict, steps);
    return {
      cause: cause === null ? null : { ...cause, shown },
      rollouts: exemplarsOf({ state, term: cause?.term ?? null }, rows),
      fixes: await withEffects(this.remote, this.rescorer, verdict.fixes, { run, steps }),
    };
  }

  private async rollouts(run: string, step: number): Promise<readonly RolloutRow[]> {
    const where = 'use == "train"';
    return (await this.remote.call("rollouts", { run, step, where, tokens: false, limit: mostRollouts }))
      .rollouts;
  }

  /** Whether the push towards the term is gone when the steps about its beginning are scored without it. */
  private async isShown(
    run: string,
    { state, cause, since, step: to }: Verdict,
    steps: readonly number[],
  ): Promise<boolean> {
    const term = cause?.term ?? null;
    if (term === null) return false;
    // A term that fails is what has failed.
    if (state === "failing") return true;
    const looked = sampleOf(stepsAbout(since ?? 0, steps), causeSteps);
    const rows = (await Promise.all(looked.map((step) => this.rollouts(run, step)))).flat();
    const from = Math.min(...looked) - 1;
    const metrics = [`reward/${term}/weight`];
    const { series } = await this.remote.call("series", { run, metrics, from, to, maxPoints: 2_000 });
    const { config, origin } = await this.remote.call("show", { run });
    const { scaled } = factsOf({ config, imported: origin !== undefined });
    return isCause(pressureOf(rows, term, { weight: series[0]?.values.at(-1) ?? 1, scaled }));
  }
}

/** What pushed a policy there is seen best shortly before it begins, and while it goes on; else any time later. */
function stepsAbout(since: number, steps: readonly number[]): readonly number[] {
  const later = steps.filter((step) => step >= since - window);
  const near = later.filter((step) => step <= since + window);
  return near.length > 0 ? near : later;
}
