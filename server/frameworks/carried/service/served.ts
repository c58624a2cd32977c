/** What of a config acts in a project only with the service next to it: a curriculum that observes, and rewards in TypeScript. */
import type { RunConfig } from "../../../core/config/runConfig.ts";
import type { Missing } from "../../lens/exporter.ts";
import { writeService } from "./writeService.ts";

export interface ProjectService {
  readonly files: readonly string[];
  /** Of the whole project, with the service. */
  readonly missing: readonly Missing[];
}

interface ServiceAsk {
  /** What is missing without it. */
  readonly without: readonly Missing[];
  /** Keys of the choices that the trainer alone has no counterpart for, and the service has. */
  readonly draws: ReadonlySet<string>;
  /** What starts the service for these keys, and what is trained without it: a sentence or two. */
  readonly line: (keys: string) => string;
}

/**
 * Writes the service into the project, where something of the config needs it.
 * @returns undefined: nothing does
 */
export async function serviceOf(
  config: RunConfig,
  project: string,
  { without, draws, line }: ServiceAsk,
): Promise<ProjectService | undefined> {
  const needs = without.filter((one) => isServed(one, draws));
  if (needs.length === 0) return undefined;
  const { files, missing } = await writeService(config, project);
  const others = without.filter((one) => !needs.includes(one));
  const known = new Set(others.map(({ key }) => key));
  return {
    files,
    missing: [
      ...others,
      ...missing.filter(({ key }) => !known.has(key)),
      {
        key: "service",
        value: "Node 20 or newer",
        reason: line(needs.map(({ key }) => `\`${key}\``).join(", ")),
        changes: "nothing-trained",
      },
    ],
  };
}

/** What a reward server scores is asked of the service. */
const isServed = ({ key, changes }: Missing, draws: ReadonlySet<string>): boolean =>
  draws.has(key) ||
  (changes === "nothing-trained" && (key === "reward.combine" || key.startsWith("reward.terms.")));
