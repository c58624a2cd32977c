/** The plan of a config's sweep, each of whose combinations was checked. */
import { UserError } from "../../../shared/lib/errors.ts";
import { planSweep, type SweepPlan } from "../../analysis/sweep/plan.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { loadConfig } from "../../rules/load.ts";

interface PlanOptions {
  readonly set: readonly string[];
  readonly steps?: number;
  readonly seed?: number;
  readonly site?: string;
}

/**
 * undefined: the config has no sweep.
 * @throws UserError where another trainer or another machine would train its runs
 */
export function planOf(config: RunConfig, { set, steps, seed, site }: PlanOptions): SweepPlan | undefined {
  const { sweep, file, engine } = config;
  if (sweep === undefined) return undefined;
  if (site !== undefined || engine.use !== "embedded")
    throw new UserError("A sweep trains with the engine of Gradus, on this machine.", {
      file,
      code: "usage",
      action: `Remove ${site === undefined ? "`engine.use`" : "--site"}, or make one run of the config: --set sweep=null`,
    });
  return planSweep(config, sweep, (own) => {
    const loaded = loadConfig(file, {
      set: [...set, ...own],
      trials: "none",
      ...(steps === undefined ? {} : { steps }),
      ...(seed === undefined ? {} : { seed }),
    });
    const [error] = loaded.diagnostics.filter(({ severity }) => severity === "error");
    if (loaded.config !== undefined) return loaded.config;
    throw new UserError(`With ${own.join(", ")}: ${error?.message ?? "the config cannot be read."}`, {
      file,
      code: "usage",
      action: "Take this value out of `sweep.parameters`.",
    });
  });
}
