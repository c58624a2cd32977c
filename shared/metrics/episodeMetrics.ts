/** What is said of episodes that an environment or tools answer. */
import { fraction, metric, type Metric } from "./metric.ts";

export const episodeMetrics: readonly Metric[] = [
  metric("episode/turns", "Mean turns of the policy in an episode.", {
    unit: "count",
    aliases: { verl: ["num_turns/mean"] },
  }),
  fraction(
    "episode/failed",
    "Episodes whose environment or tool threw or took too long: they do not train.",
    {
      better: "lower",
    },
  ),
  metric("episode/waited", "Mean time that an episode waited for its environment and its tools.", {
    unit: "seconds",
    better: "lower",
  }),
  metric(
    "episode/rows",
    "Mean rows that an episode became: more than 1 where its conversation was written again otherwise (`next: rerender`).",
    { unit: "count", better: "lower" },
  ),
  metric(
    "episode/rewritten",
    "Mean tokens of earlier turns that the chat template dropped or wrote otherwise before a next turn.",
    { unit: "tokens", better: "lower" },
  ),
  metric("tools/calls", "Mean calls of tools in an episode.", {
    unit: "count",
    aliases: { trl: ["tools/call_frequency"] },
  }),
  fraction("tools/failed", "Calls of tools that could not be made: malformed, or of no tool that there is.", {
    better: "lower",
    aliases: { trl: ["tools/failure_frequency"] },
  }),
];
