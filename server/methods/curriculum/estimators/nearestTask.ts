import { z } from "zod";
import { estimator } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import { Column } from "../column.ts";
import { nearestOf, unitPoint } from "../points.ts";
import type { ArmSet } from "../../../core/slots/arms.ts";
import type { Estimator, Observation } from "../../../core/slots/curriculum.ts";

class NearestTask implements Estimator {
  private readonly values = new Column(Number.NaN);
  /** Arms with a value. */
  private readonly observed: number[] = [];
  private arms: ArmSet | undefined;

  addArms(arms: ArmSet): void {
    this.arms = arms;
  }
  observe({ arm, mean }: Observation): void {
    if (Number.isNaN(this.values.get(arm))) this.observed.push(arm);
    this.values.set(arm, mean);
  }
  endStep(): void {
    // An observation changes the estimates of the arms around it.
  }
  estimate(arm: number): number {
    const own = this.values.get(arm);
    const { arms } = this;
    const point = arms && unitPoint(arms, arm);
    if (!Number.isNaN(own) || arms === undefined || point === undefined) return own;
    const points = this.observed.map((one) => unitPoint(arms, one) ?? []);
    return this.values.get(this.observed[nearestOf(points, point)] ?? -1);
  }
  save(): Saved {
    return { json: [...this.observed], arrays: { values: this.values.save() } };
  }
  load({ json, arrays }: Saved): void {
    this.values.load(arrays?.["values"]);
    this.observed.splice(0, this.observed.length, ...(z.array(z.number()).safeParse(json).data ?? []));
  }
}

export const nearestTask = estimator({
  name: "nearest_task",
  summary: "An arm's last observation, or that of the nearest point that has one.",
  formula: "Q(x) = s of the nearest tried point, in the box scaled to [0, 1] in every dimension",
  sources: [
    "Teacher algorithms for curriculum learning of Deep RL in continuously parameterized environments",
  ],
  gives: ["estimate"],
  takes: ["points"],
  params: z.object({}),
  create: () => new NearestTask(),
});
