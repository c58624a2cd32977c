/** Metrics are asked for in parts: a run may have recorded thousands of names. */
import { panelStacks } from "../../../shared/editor/runPanel.ts";

interface MetricsRequest {
  readonly metrics: string[];
  readonly stacks: { readonly metrics: string[]; readonly absent: "zero" | "unknown" }[];
}

const mostNames = 200;

/** Those that add up are asked for together, however many they are. */
export function seriesParts(metrics: readonly string[]): readonly MetricsRequest[] {
  const stacks = panelStacks(metrics);
  const whole = new Set(stacks.flatMap((stack) => stack.metrics));
  const parts: MetricsRequest[] = [];
  const add = (names: readonly string[]): MetricsRequest => {
    let part = parts.at(-1);
    if (part === undefined || part.metrics.length + names.length > mostNames)
      parts.push((part = { metrics: [], stacks: [] }));
    part.metrics.push(...names);
    return part;
  };
  for (const { metrics: names, absent } of stacks) add(names).stacks.push({ metrics: [...names], absent });
  for (const metric of metrics) if (!whole.has(metric)) add([metric]);
  return parts;
}
