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
  metric("tools/calls", "Mean calls of tools in an episode.", {
    unit: "count",
    aliases: { trl: ["tools/call_frequency"] },
  }),
  fraction("tools/failed", "Calls of tools that could not be made: malformed, or of no tool that there is.", {
    better: "lower",
    aliases: { trl: ["tools/failure_frequency"] },
  }),
];
