/** What of a config acts in a project only with the service next to it: a curriculum that observes, and rewards in TypeScript. */
import type { RunConfig } from "../../../core/config/runConfig.ts";
import type { Missing } from "../exporter.ts";
import { writeService } from "../service/writeService.ts";

export interface ProjectService {
  readonly files: readonly string[];
  /** Of the whole project, with the service. */
  readonly missing: readonly Missing[];
}

/** Choices that TRL alone has no counterpart for, and the service has. */
const draws: ReadonlySet<string> = new Set(["curriculum.admission", "curriculum.sampler"]);

/**
 * Writes the service into the project, where something of the config needs it.
 * @param without what is missing without it
 */
export async function serviceOf(
  config: RunConfig,
  project: string,
  without: readonly Missing[],
): Promise<ProjectService | undefined> {
  const needs = without.filter(isServed);
  if (needs.length === 0) return undefined;
  const { files, missing } = await writeService(config, project);
  const others = without.filter((one) => !isServed(one));
  const known = new Set(others.map(({ key }) => key));
  return {
    files,
    missing: [...others, ...missing.filter(({ key }) => !known.has(key)), serviceLine(needs)],
  };
}

/** What a reward server scores is asked of the service. */
const isServed = ({ key, changes }: Missing): boolean =>
  draws.has(key) ||
  (changes === "nothing-trained" && (key === "reward.combine" || key.startsWith("reward.terms.")));

const serviceLine = (needs: readonly Missing[]): Missing => ({
  key: "service",
  value: "Node 20 or newer",
  reason: `train.py starts service/, which does ${needs.map(({ key }) => `\`${key}\``).join(", ")}. Without Node, GRADUS_SERVICE=off trains on train.parquet: prompts in the order of the first probabilities, no group rejected, and no reward that it would score.`,
  changes: "nothing-trained",
});
