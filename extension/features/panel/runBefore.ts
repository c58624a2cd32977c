/** What is different from the run before, of a fork from its parent: the first thing that one wants to know of a result. */
import { runsCompare, runsList, type RunSummary } from "../../../shared/protocol/protocol.ts";
import type { Json } from "../../../shared/lib/json.ts";
import { plural } from "../../../shared/lib/format.ts";
import type { PanelBefore } from "../../../shared/editor/runPanel.ts";
import type { Comparison } from "../../../shared/run/comparison.ts";
import type { Asker } from "../connection/asker.ts";

const mostNamed = 3;
const mostLetters = 28;

/** undefined: there is none, or the daemon cannot compare. */
export async function runBefore(source: Asker, own: RunSummary): Promise<PanelBefore | undefined> {
  const { runs } = await source.ask(runsList, {});
  const earlier = runs
    .filter(({ id, file, startedAt }) => id !== own.id && file === own.file && startedAt < own.startedAt)
    .sort((one, other) => other.startedAt.localeCompare(one.startedAt));
  const before = runs.find(({ id }) => id === own.parent?.run) ?? earlier[0];
  if (before === undefined) return undefined;
  const compared = await source.ask(runsCompare, {
    runs: [before.id, own.id],
    metrics: ["reward/total"],
    buckets: 1,
  });
  return { run: before.id, text: differenceText(compared) };
}

/** "brevity.weight 0 → 0.1, seed 1 → 2, and 3 more"; the last words of a path say which value it is. */
export function differenceText({ runs, config, sources }: Comparison): string {
  const [one, other] = runs;
  const seeds = one?.seed === other?.seed ? [] : [`seed ${one?.seed ?? "–"} → ${other?.seed ?? "–"}`];
  const changed = [
    ...sources.filter(({ kind }) => kind !== "package").map(({ kind, name }) => `${kind} ${name} changed`),
    ...config.map(
      ({ path, values: [before, after] }) =>
        `${shortPath(path)} ${said(before?.value)} → ${said(after?.value)}`,
    ),
    ...seeds,
    ...sources
      .filter(({ kind }) => kind === "package")
      .map(({ name, values }) => `${name} ${values[0] ?? "–"} → ${values[1] ?? "–"}`),
  ];
  if (changed.length === 0) return "nothing differs";
  const more = changed.length - mostNamed;
  return `${changed.slice(0, mostNamed).join(", ")}${more > 0 ? `, and ${plural(more, "more difference")}` : ""}`;
}

const shortPath = (path: string): string => path.split(".").slice(-2).join(".");
function said(value: Json | undefined): string {
  if (value === undefined) return "unset";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > mostLetters ? `${text.slice(0, mostLetters - 1)}…` : text;
}
