/** Looks at each evaluation of a sweep's run as it comes, and asks the run to stop where `sweep.stop` says so. */
import type { DaemonClient } from "../../../shared/daemon/client.ts";
import { messageOf } from "../../../shared/lib/errors.ts";
import { formatNumber, plural } from "../../../shared/lib/format.ts";
import { runsControl } from "../../../shared/protocol/protocol.ts";
import { worseThanMedian, type SweepPoint, type WorseThanMedian } from "../../analysis/sweep/median.ts";
import type { SweepPlan } from "../../analysis/sweep/plan.ts";
import { complain } from "../command.ts";
import type { RunLine } from "../text/runLines.ts";

type Plan = Pick<SweepPlan, "sweep" | "better">;

export class EarlyStop {
  private readonly others: (readonly SweepPoint[])[] = [];

  constructor(private readonly plan: Plan) {}

  /** A run of the sweep has ended. */
  learn(course: readonly SweepPoint[]): void {
    if (course.length > 0) this.others.push(course);
  }

  ofRun(run: string): RunJudge {
    return new RunJudge(run, this.plan, [...this.others]);
  }
}

class RunJudge {
  private course: SweepPoint[] = [];
  private asked = false;

  constructor(
    private readonly run: string,
    private readonly plan: Plan,
    private readonly others: readonly (readonly SweepPoint[])[],
  ) {}

  hear(line: RunLine, client: DaemonClient): void {
    const { sweep, better } = this.plan;
    if (line.type !== "evaluation" || sweep.stop === undefined || this.asked) return;
    const value = line.metrics[sweep.metric];
    if (value === undefined) return;
    const steps = line.step + 1;
    // A resumed run is evaluated again from its checkpoint on.
    this.course = [...this.course.filter((point) => point.steps < steps), { steps, value }];
    // The last evaluation is of a run that has ended.
    if (line.role !== "periodic") return;
    const worse = worseThanMedian(this.course, this.others, { ...sweep.stop, better });
    if (worse === undefined) return;
    this.asked = true;
    client
      .ask(runsControl, { run: this.run, action: "stop", reason: reasonText(worse, this.plan) })
      .catch((error: unknown) =>
        complain(`The sweep could not stop ${this.run} early, so it goes on: ${messageOf(error)}`),
      );
  }
}

const reasonText = (
  { steps, best, median, others }: WorseThanMedian,
  { sweep: { metric }, better }: Plan,
): string =>
  `Stopped early by the sweep after ${plural(steps, "step")}: its best ${metric} so far is ${formatNumber(best)}, ${better === "max" ? "below" : "above"} ${formatNumber(median)}, the median of ${plural(others, "other run")}.`;
