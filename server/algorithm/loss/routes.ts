/** Which of the losses each rollout of an update moves. */
import { rowsOfGroups, selectRows } from "../../core/rows/batch.ts";
import type { RouteConfig } from "../../core/config/resolved.ts";
import { holds, routePlaces, type Routed, type RoutePlace } from "../../core/blocks/routes.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { Aggregate, Objective, ObjectiveInput } from "../../core/loss.ts";
import { outcome } from "../rewards/rewards.ts";

/** Numbers of the places, in a column per row. */
export const places: readonly RoutePlace[] = routePlaces.options;
export const placeOf = (place: RoutePlace): number => places.indexOf(place);
const [policy, pair, mask, drop] = (["policy", "pair", "mask", "drop"] as const).map(placeOf);

/**
 * Per row, where it goes.
 * @param success see `outcome`; undefined: nothing is known of any
 * @param advantages per row
 */
export function routesOf(
  rules: readonly RouteConfig[],
  batch: Batch,
  success: Uint8Array | undefined,
  advantages: Float64Array,
): Uint8Array {
  const routes = new Uint8Array(batch.rows);
  const of = (row: number): number => success?.[row] ?? outcome.unknown;
  for (const rows of rowsOfGroups(batch))
    for (const row of rows) {
      const others = rows.filter((other) => other !== row).map(of);
      const routed: Routed = { batch, row, own: of(row), others, advantage: advantages[row]! };
      const rule = rules.find(({ when }) => when.every((condition) => holds(condition, routed)));
      routes[row] = rule === undefined ? policy! : placeOf(rule.to);
    }
  return routes;
}

const each = (
  batch: Batch,
  routes: Uint8Array,
  act: (place: number, from: number, to: number) => void,
): void => routes.forEach((place, row) => act(place, batch.offsets[row]!, batch.offsets[row + 1]!));

/** Weights without the rollouts that move nothing. */
export function unmasked(weights: Float64Array, batch: Batch, routes: Uint8Array): Float64Array {
  const left = weights.slice();
  each(batch, routes, (place, from, to) => {
    if (place === mask || place === drop) left.fill(0, from, to);
  });
  return left;
}

/** Per token: 0 where its rollout moves none of the objectives. */
export function reached(batch: Batch, routes: Uint8Array): Uint8Array {
  const kept = new Uint8Array(batch.tokens.length);
  each(batch, routes, (place, from, to) => {
    if (place === policy || place === pair) kept.fill(1, from, to);
  });
  return kept;
}

/** The normaliser, which does not see rollouts that were dropped. */
export function aggregated(
  aggregate: Aggregate,
  counts: Int32Array,
  batch: Batch,
  routes: Uint8Array | undefined,
): Float64Array {
  if (routes === undefined || !routes.includes(drop!)) return aggregate(counts, batch);
  const rows = [...routes.keys()].filter((row) => routes[row] !== drop);
  const byRow = new Float64Array(batch.rows);
  const own = aggregate(
    Int32Array.from(rows, (row) => counts[row]!),
    selectRows(batch, rows),
  );
  rows.forEach((row, i) => (byRow[row] = own[i]!));
  return byRow;
}

/** Tokens by where their rollouts went, the objective apart: what `explain` and the panel show. */
export function routeTouched(batch: Batch, routes: Uint8Array): Record<string, Uint8Array> {
  const touched: Record<string, Uint8Array> = {};
  each(batch, routes, (place, from, to) => {
    if (place === policy) return;
    const column = (touched[`route: ${places[place]!}`] ??= new Uint8Array(batch.tokens.length));
    column.fill(1, from, to);
  });
  return touched;
}

/** Share of the rows that went to each place of the rules. */
export const routeMetrics = (rules: readonly RouteConfig[], routes: Uint8Array): Record<string, number> =>
  Object.fromEntries(
    [...new Set(rules.map(({ to }) => to))].map((to) => [
      `route/${to}`,
      routes.filter((place) => place === placeOf(to)).length / Math.max(1, routes.length),
    ]),
  );

/** A loss over the rollouts that go there. */
export function onRoute(objective: Objective, to: RoutePlace): Objective {
  const { start: _, ...rest } = objective;
  const wanted = placeOf(to);
  return {
    ...rest,
    loss(input) {
      const { routes } = input;
      return objective.loss(routes === undefined ? input : only(input, routes, wanted));
    },
  };
}

function only(input: ObjectiveInput, routes: Uint8Array, wanted: number): ObjectiveInput {
  const left = (column: Float64Array): Float64Array => {
    const own = column.slice();
    each(input.batch, routes, (place, from, to) => {
      if (place !== wanted) own.fill(0, from, to);
    });
    return own;
  };
  return { ...input, weights: left(input.weights), factors: left(input.factors) };
}
