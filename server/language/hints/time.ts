/** How long a stage would take, by the last run's steps. */
import { formatSeconds } from "../../../shared/lib/format.ts";
import { entry } from "../../config/text/node.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { LastRun } from "../../analysis/evidence/types.ts";
import { whole, type Hint } from "./hint.ts";
import type { Scope } from "./scopes.ts";

/** Behind the `steps` of the stage that the last run was in. A run times the stage that it is in, and no other. */
export function timeHints(scopes: readonly Scope[], config: RunConfig, last: LastRun | undefined): Hint[] {
  const seconds = last?.secondsPerStep ?? undefined;
  if (last === undefined || seconds === undefined) return [];
  const scope = scopes.find(({ stage }) => stage?.name === last.stage);
  const [top] = scopes;
  const place = entry(scope?.node ?? top?.node, "steps") ?? entry(top?.node, "rollout");
  const steps = scope?.stage?.steps ?? config.stages.find(({ name }) => name === last.stage)?.steps;
  if (place === undefined || steps === undefined) return [];
  const each = formatSeconds(seconds);
  return [
    {
      line: place.value.origin.range.start.line,
      label: `${each} per step, about ${formatSeconds(seconds * steps)}`,
      detail: `The median step of the last run, \`${last.name}\`, took ${each}; × ${whole(steps)} steps = ${formatSeconds(seconds * steps)}. Evaluations and checkpoints take additional time.`,
    },
  ];
}
