/** Metrics that others logged, under Gradus's names where there are such, else under their own. */
import { metrics as known } from "../../../shared/metrics/metrics.ts";
import type { Namer } from "../../../shared/run/trainers.ts";
import { toWire, type WireNumber } from "../../../shared/rollouts/rollouts.ts";

/** The numbers of an entry, by name. */
export function named(trainer: Namer, data: Readonly<Record<string, unknown>>): Record<string, WireNumber> {
  const values: Record<string, WireNumber> = {};
  for (const [name, value] of Object.entries(data)) {
    if (typeof value === "number") values[ownName(trainer, name)] = toWire(value);
    else if (value === "NaN" || value === "Infinity" || value === "-Infinity")
      values[ownName(trainer, name)] = value;
  }
  return values;
}

/** A trainer's name of a metric as Gradus calls it, where the list of metrics says so. */
export function ownName(trainer: Namer, name: string): string {
  const known = ownNames.get(trainer) ?? new Map<string, string>();
  ownNames.set(trainer, known);
  const present = known.get(name);
  if (present !== undefined) return present;
  // A run has some hundreds of names, and says them again at each step.
  if (known.size >= mostNames) known.clear();
  const own = firstFit(trainer, name);
  known.set(name, own);
  return own;
}
const ownNames = new Map<Namer, Map<string, string>>();
const mostNames = 10_000;

function firstFit(trainer: Namer, name: string): string {
  for (const { own, pattern } of patternsOf(trainer)) {
    const found = pattern.exec(name);
    if (found !== null) return own.replace("<term>", found[1] ?? "").replace("<model>", "reference");
  }
  return name;
}

/** At the end of a name a term is its last part: `rewards/correct` of early TRL, and not `rewards/correct/std`. */
const termPattern = (alias: string): string => alias.replace(/<term>$/, "([^/]+)").replace("<term>", "(.+)");

type Pattern = { readonly own: string; readonly pattern: RegExp };
const patterns = new Map<Namer, readonly Pattern[]>();

/** Names with a `*` stand for several that are no single metric of ours. The model of a divergence is the reference. */
function patternsOf(trainer: Namer): readonly Pattern[] {
  const present = patterns.get(trainer);
  if (present !== undefined) return present;
  const made = known.flatMap(({ name, aliases = {} }) =>
    (aliases[trainer] ?? [])
      .filter((alias) => !alias.includes("*") && !/<(?!term>|model>)/.test(name))
      .map((alias) => ({
        own: name,
        pattern: new RegExp(`^${termPattern(alias.replace(/[.+?^${}()|[\]\\]/g, "\\$&"))}$`),
      })),
  );
  patterns.set(trainer, made);
  return made;
}
