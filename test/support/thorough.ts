/** Tests that go through many presets, positions or seeds: some of them in `npm test`, all in `npm run test:long`. */

import { test } from "node:test";

/** The tier `long` runs whatever imports this file once more, with everything. */
export const thorough = process.env["GRADUS_THOROUGH"] === "1";

/** A test that trains for seconds, and whose parts others of `npm test` show: only where tests are thorough. */
export function inLong(name: string, act: () => void | Promise<void>): void {
  if (thorough) test(name, act);
}

/** `all` where tests are thorough, else `few`. */
export const count = (few: number, all: number): number => (thorough ? all : few);

/** All items where tests are thorough; else `few` of them, spread evenly from the first to the last. */
export function some<T>(items: readonly T[], few: number): readonly T[] {
  const wanted = count(few, items.length);
  if (items.length <= wanted) return items;
  const step = (items.length - 1) / Math.max(1, wanted - 1);
  return Array.from({ length: wanted }, (_, index) => items[Math.round(index * step)]!);
}
