/**
 * Waits for conditions; never for a time. All waits of all tiers have this one end, which says only that something hangs:
 * what is late on a machine with much to do is not wrong.
 */
import { setTimeout as wait } from "node:timers/promises";

/** Milliseconds; longer in the tier `long`, whose trainings take minutes. The limits of suites and files (.vscode-test.mjs, scripts/test/tiers.mjs) are larger: a wait says what hangs. */
export const patience = process.env["GRADUS_THOROUGH"] === "1" ? 600_000 : 120_000;

const hangs = (what: string): Error => new Error(`waited ${patience / 1000} s for ${what}`);

/** Looks again until there is something. `what` is the sentence of the failure. */
export async function until<T>(
  look: () => T | undefined | null | false | PromiseLike<T | undefined | null | false>,
  what: string,
): Promise<T> {
  const end = Date.now() + patience;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== null && value !== false) return value;
    if (Date.now() > end) throw hangs(what);
    await wait(20);
  }
}

/** What a promise comes to; where it comes to nothing, an error that says so. */
export async function settled<T>(promise: PromiseLike<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(hangs(what)), patience);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
