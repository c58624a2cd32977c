/** What `gradus run --dry-run` says. */
import { colours } from "./colours.ts";
import type { DryRun, TermTiming } from "../../run/loop/dryRun.ts";
import { print } from "../command.ts";
import { plural } from "../../../shared/lib/format.ts";
import { fixed, oneLine } from "./terminal.ts";

const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
const time = (seconds: number): string =>
  seconds < 0.001
    ? `${(seconds * 1e6).toFixed(0)} µs`
    : seconds < 1
      ? `${(seconds * 1e3).toFixed(1)} ms`
      : `${seconds.toFixed(2)} s`;

function termLine({ term, prepare_seconds, seconds_per_rollout, mean, errors }: TermTiming): string[] {
  const line = `  ${term.padEnd(16)} ${time(seconds_per_rollout).padStart(9)} per rollout, mean ${fixed(mean ?? undefined)}, loaded in ${time(prepare_seconds)}`;
  return [line, ...errors.map((error) => colours.red(`    ${error}`))];
}

const asked = {
  empty: "nothing",
  prompt: "the prompt",
  gold: "the reference answer",
  filler: "filler",
} as const;

/** The reward of each answer, then each term's value. */
function probeLine({ probe, terms, reward }: DryRun["probes"][number]): string {
  const values = Object.entries(terms).map(([name, value]) => `${name} ${fixed(value ?? undefined)}`);
  return `  ${asked[probe].padEnd(20)} ${fixed(reward ?? undefined).padStart(7)}  (${values.join(", ")})`;
}

function printProbes({ probes, warnings }: DryRun): void {
  // An answer of one turn has no reward where an environment gives it.
  const rewarded = probes.filter(({ terms }) => Object.values(terms).some((value) => value !== null));
  if (rewarded.length > 0) print("the reward of an answer, and each term's value before its weight:");
  for (const probe of rewarded) print(probeLine(probe));
  for (const warning of warnings) print(`${colours.yellow("warning")} ${warning}`);
}

/** What a harness's program did: its calls, what became rows, its verdict, and what went wrong. */
function printEpisodes(episodes: NonNullable<DryRun["episodes"]>): void {
  print("episodes of the harness:");
  for (const { task, rows, verdict, components, error } of episodes) {
    const calls = rows.flatMap(({ turns }) => turns).filter(({ role }) => role === "assistant").length;
    const parts = Object.entries(components).map(([name, value]) => `, ${name} ${String(value)}`);
    const said = verdict === null ? "no verdict" : `verdict ${fixed(verdict)}${parts.join("")}`;
    print(`  ${task}: ${plural(calls, "call")}, ${plural(rows.length, "row")}, ${said}`);
    for (const { prompt_tokens, turns } of rows) {
      print(`    asked with ${plural(prompt_tokens, "token")}`);
      for (const { role, text, tokens } of turns)
        print(`    ${role.padEnd(9)} ${String(tokens).padStart(5)} tokens  ${oneLine(text, 80)}`);
    }
    if (error !== undefined) print(colours.red(`    ${error}`));
  }
}

export function printDryRun(report: DryRun): void {
  const { backend, parameters, metrics, rewards, rollouts, memory } = report;
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
  printProbes(report);
  if (report.episodes !== undefined) printEpisodes(report.episodes);
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
