/** What `gradus run --dry-run` says. */
import { colours } from "./colours.ts";
import type { DryRun, TermTiming } from "../run/dryRun.ts";
import { print } from "./command.ts";
import { fixed, oneLine } from "./terminal.ts";

const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
const time = (seconds: number): string =>
  seconds < 0.001
    ? `${(seconds * 1e6).toFixed(0)} µs`
    : seconds < 1
      ? `${(seconds * 1e3).toFixed(1)} ms`
      : `${seconds.toFixed(2)} s`;

function termLine({ term, prepare_seconds, seconds_per_rollout, mean, errors }: TermTiming): string[] {
  const line = `  ${term.padEnd(16)} ${time(seconds_per_rollout).padStart(9)} a rollout, mean ${fixed(mean ?? undefined)}, loaded in ${time(prepare_seconds)}`;
  return [line, ...errors.map((error) => colours.red(`    ${error}`))];
}

export function printDryRun({ backend, parameters, metrics, rewards, rollouts, memory }: DryRun): void {
  print(`computing on ${backend.name} (${backend.device}): ${backend.reason}`);
  print(`${(parameters / 1e6).toFixed(2)} million parameters`);
  print(
    `one step: ${Object.entries(metrics)
      .filter(([name]) => name.startsWith("time/"))
      .map(([name, value]) => `${name.slice(5)} ${time(value)}`)
      .join(", ")}`,
  );
  if (rewards.length > 0) print("rewards:");
  for (const line of rewards.flatMap(termLine)) print(line);
  if (rollouts.length > 0) print("rollouts:");
  for (const { prompt, response, reward } of rollouts.slice(0, 4))
    print(`  ${String(reward ?? "–").padStart(6)}  ${oneLine(`${prompt}${response}`, 90)}`);
  print(
    `memory: about ${megabytes(memory.predicted_bytes)} of ${megabytes(memory.limit_bytes)} for the whole run (${Object.entries(
      memory.parts,
    )
      .filter(([, bytes]) => bytes > 0)
      .map(([name, bytes]) => `${name} ${megabytes(bytes)}`)
      .join(", ")}); ${megabytes(memory.resident_bytes)} now`,
  );
  print("nothing was kept");
}
