import { z } from "zod";
import { estimator } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import { Column } from "../column.ts";
import type { Estimator, Observation } from "../../../core/slots/curriculum.ts";

class Last implements Estimator {
  private readonly values = new Column(Number.NaN);

  observe({ arm, mean }: Observation): void {
    this.values.set(arm, mean);
  }
  estimate(arm: number): number {
    return this.values.get(arm);
  }
  save(): Saved {
    return { json: null, arrays: { values: this.values.save() } };
  }
  load({ arrays }: Saved): void {
    this.values.load(arrays?.["values"]);
  }
}

export const last = estimator({
  name: "last",
  aliases: ["last_group"],
  summary: "An arm's last observation.",
  formula: "Q = s",
  sources: [],
  gives: ["estimate"],
  params: z.object({}),
  create: () => new Last(),
});
