/** The names inside a metric's name: `curriculum/countdown/3/share` speaks of the task `countdown`. */
import type { Metric } from "../../../shared/metrics/metric.ts";
import { metrics } from "../../../shared/metrics/metrics.ts";
import type { NameKind, NamePart } from "./naming.ts";

interface MetricPart extends Omit<NamePart, "kind"> {
  /** `arm`: the whole arm, of which a task's name is the beginning. */
  readonly kind: NameKind | "arm";
}

const holes: Readonly<Record<string, NameKind | "arm">> = { term: "term", model: "model", arm: "arm" };

interface Template {
  readonly metric: Metric;
  readonly pattern: RegExp;
  readonly holes: readonly string[];
  /** Characters that are given: the more, the closer the template. */
  readonly literal: number;
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The closest first: `reward/<term>/errors` before `reward/<term>/<criterion>`, and this before `reward/<term>`. */
const templates: readonly Template[] = metrics
  .map((metric): Template => {
    const pieces = metric.name.split(/(<\w+>|@k)/);
    const source = pieces.map((piece) =>
      piece === "@k" ? "@\\d+" : /^<\w+>$/.test(piece) ? "(.+)" : escaped(piece),
    );
    return {
      metric,
      pattern: new RegExp(`^${source.join("")}$`, "d"),
      holes: pieces.flatMap((piece) => /^<(\w+)>$/.exec(piece)?.[1] ?? []),
      literal: pieces.filter((piece) => !/^(<\w+>|@k)$/.test(piece)).join("").length,
    };
  })
  .sort((a, b) => b.literal - a.literal || a.holes.length - b.holes.length);

interface ReadMetric {
  readonly metric: Metric;
  readonly parts: readonly MetricPart[];
}

/**
 * @param tasks names of the config's tasks: an arm `a/b/3` is of the task `a/b` where there is one
 * @returns undefined where no metric has such a name
 */
export function readMetric(name: string, tasks: readonly string[] = []): ReadMetric | undefined {
  for (const template of templates) {
    const match = template.pattern.exec(name);
    if (match === null) continue;
    const parts = template.holes.flatMap((hole, index): MetricPart[] => {
      const [text, kind, start] = [match[index + 1], holes[hole], match.indices?.[index + 1]?.[0]];
      if (text === undefined || kind === undefined || start === undefined) return [];
      const task: MetricPart[] = kind === "arm" ? [{ kind: "task", name: taskOf(text, tasks), start }] : [];
      return [{ kind, name: text, start }, ...task];
    });
    return { metric: template.metric, parts };
  }
  return undefined;
}

function taskOf(arm: string, tasks: readonly string[]): string {
  const known = tasks.filter((task) => arm === task || arm.startsWith(`${task}/`));
  return known.sort((a, b) => b.length - a.length)[0] ?? arm.split("/")[0] ?? arm;
}
