/** What all models share that `auxiliary` trains: when they learn, how strongly, and what is said of their updates. */
import type { AuxiliaryConfig } from "../../core/config/resolved.ts";
import { valueAt } from "../../core/schedule.ts";
import type { Stats, UpdateStats } from "../../core/policy.ts";
import type { StepContext } from "../step/context.ts";

/** @param index place in the config's list, whose weight may be set while the run goes on */
export const weightOf = ({ stage, clock }: StepContext, config: AuxiliaryConfig, index: number): number =>
  valueAt((stage.config.body.auxiliary[index] ?? config).weight, clock);

export function isDue({ clock, stage }: StepContext, { when }: AuxiliaryConfig): boolean {
  if (when === "always") return true;
  if (when.every !== undefined) return (clock.stageStep + 1) % when.every === 0;
  return when.last === undefined || clock.stageStep >= stage.config.steps - when.last;
}

/** Means over updates. */
export function measured(metric: string, updates: readonly UpdateStats[]): Record<string, number> {
  if (updates.length === 0) return {};
  const names = new Set(updates.flatMap(({ metrics }) => Object.keys(metrics)));
  const mean = (of: (one: UpdateStats) => number | undefined): number => {
    const values = updates.flatMap((one) => of(one) ?? []);
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  return {
    [`learner/${metric}/loss`]: mean(({ loss }) => loss),
    [`learner/${metric}/grad_norm`]: mean(({ grad_norm }) => grad_norm),
    ...Object.fromEntries(
      [...names].map((name) => [`learner/${metric}/${name}`, mean(({ metrics }) => metrics[name])]),
    ),
  };
}

export const times = (gradients: Stats, weight: number): Stats =>
  weight === 1
    ? gradients
    : Object.fromEntries(
        Object.entries(gradients).map(([name, column]) => [name, column?.map((value) => weight * value)]),
      );
