/** In what runs differ that no config says: texts of rewards, environments and tools, data, packages, programs. Pure. */
import type { SourceDifference } from "../../../shared/run/comparison.ts";
import type { KeptCode, RunSources } from "../../../shared/run/sources.ts";

type Kind = SourceDifference["kind"];
const kinds: readonly Kind[] = ["reward", "environment", "tool", "data", "package", "program"];

const hashes = (owners: readonly { readonly files: readonly KeptCode[] }[]): ReadonlyMap<string, string> =>
  new Map(
    owners.flatMap(({ files }) => files.map(({ path, sha256 }) => [path, sha256.slice(0, 12)] as const)),
  );

/** Of one run, by kind and name. */
function named(sources: RunSources): Readonly<Record<Kind, ReadonlyMap<string, string | null>>> {
  const { rewards, environments, tools, data, python, gradus, node } = sources;
  return {
    reward: hashes(rewards),
    environment: hashes(environments),
    tool: hashes(tools),
    // A file that was not read to its end is known by its size and time.
    data: new Map(
      data.map(({ path, sha256, bytes, modified }) => [
        path,
        sha256?.slice(0, 12) ?? `${bytes} bytes of ${modified.slice(0, 16)}`,
      ]),
    ),
    package: new Map(Object.entries(python?.packages ?? {})),
    program: new Map([
      ["Gradus", gradus],
      ["Node", node],
      ...(python === null ? [] : [["Python", python.version] as const]),
    ]),
  };
}

/**
 * Rewards first, programs last. Runs that kept none are left out of the question whether something differs.
 * @param all an entry a run; undefined: it kept none
 */
export function sourceDifferences(all: readonly (RunSources | undefined)[]): readonly SourceDifference[] {
  const known = all.map((sources) => (sources === undefined ? undefined : named(sources)));
  return kinds.flatMap((kind) => {
    const names = new Set(known.flatMap((one) => (one === undefined ? [] : [...one[kind].keys()])));
    return [...names].flatMap((name): SourceDifference[] => {
      const values = known.map((one) => one?.[kind].get(name) ?? null);
      const told = values.filter((_, at) => known[at] !== undefined);
      return new Set(told).size < 2 ? [] : [{ kind, name, values }];
    });
  });
}

/** What tells runs apart that a config does not say: code and data. Runs that kept none are like any other. */
export const sourceKey = (sources: RunSources | undefined): string | undefined => {
  if (sources === undefined) return undefined;
  const { reward, environment, tool, data } = named(sources);
  return JSON.stringify([reward, environment, tool, data].map((one) => [...one].sort()));
};
