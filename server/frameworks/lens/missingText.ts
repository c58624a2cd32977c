/** MISSING.md: what the config says and an engine cannot do. */
import type { Missing } from "./exporter.ts";

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

const rows = (missing: readonly Missing[]): string[] => [
  "| key | value | why, and what happens instead |",
  "| --- | ----- | ---------------------------- |",
  ...missing.map(({ key, value, reason }) => `| \`${key}\` | ${cell(value)} | ${cell(reason)} |`),
];

/** @param release of the engine: "TRL 1.16" */
export function missingText(release: string, missing: readonly Missing[]): string {
  const algorithm = missing.filter(({ changes }) => changes === "algorithm");
  const guards = missing.filter(({ changes }) => changes === "guard");
  const others = missing.filter(({ changes }) => changes === "nothing-trained");
  return `${[
    `# What ${release} does not do of this config`,
    "",
    algorithm.length === 0
      ? "The algorithm is the config's own."
      : "With these, what trains is another algorithm than the config's:",
    ...(algorithm.length === 0 ? [] : ["", ...rows(algorithm)]),
    ...(guards.length === 0
      ? []
      : ["", "Constants that keep numbers finite are the trainer's own:", "", ...rows(guards)]),
    ...(others.length === 0 ? [] : ["", "These change nothing of what trains:", "", ...rows(others)]),
  ].join("\n")}\n`;
}
