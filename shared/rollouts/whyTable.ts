/** The advantages by other baselines and scales as a table that fits a page: what terminal and panel both show. */
import type { MaybeNumber } from "./rollouts.ts";
import type { Alternative } from "./why.ts";

interface AlternativeTable {
  readonly scales: readonly string[];
  /** Baselines that give the same throughout share a row. */
  readonly rows: readonly {
    readonly baselines: readonly string[];
    readonly cells: readonly { readonly advantage: MaybeNumber; readonly chosen: boolean }[];
  }[];
  /** The remaining scales, with the config's own baseline. */
  readonly others: readonly { readonly scale: string; readonly advantage: MaybeNumber }[];
  /** Baselines that need what was not recorded. */
  readonly missing: readonly string[];
}

/** Scales that have a column, besides the config's own. */
const usual = ["none", "group_std", "batch_std"];
const unique = (words: readonly string[]): string[] => [...new Set(words)];

export function alternativeTable(all: readonly Alternative[]): AlternativeTable {
  const own = all.find(({ chosen }) => chosen);
  const given = all.filter(({ advantage }) => advantage !== null);
  const wanted = own === undefined ? usual : [own.scale, ...usual];
  const scales = unique(wanted).filter((name) => given.some(({ scale }) => scale === name));
  const baselines = unique(given.map(({ baseline }) => baseline));
  const rows = new Map<
    string,
    { baselines: string[]; cells: { advantage: MaybeNumber; chosen: boolean }[] }
  >();
  for (const baseline of baselines) {
    const cells = scales.map((scale) => {
      const found = given.find((one) => one.baseline === baseline && one.scale === scale);
      return { advantage: found?.advantage ?? null, chosen: found?.chosen === true };
    });
    if (cells.every(({ advantage }) => advantage === null)) continue;
    const key = JSON.stringify(cells.map(({ advantage }) => Number(advantage).toPrecision(9)));
    const known = rows.get(key);
    if (known === undefined) rows.set(key, { baselines: [baseline], cells });
    else known.baselines.push(baseline);
  }
  return {
    scales,
    rows: [...rows.values()],
    others: given
      .filter(({ baseline, scale }) => baseline === own?.baseline && !scales.includes(scale))
      .map(({ scale, advantage }) => ({ scale, advantage })),
    missing: unique(all.map(({ baseline }) => baseline)).filter((name) => !baselines.includes(name)),
  };
}
