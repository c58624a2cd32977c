/** Work that is ended in the middle where it takes too long: a loop inside WebAssembly hears of nothing else. */
import { Script } from "node:vm";

const place = Symbol.for("gradus work");
const script = new Script('globalThis[Symbol.for("gradus work")]()');

export type Bounded<Result> = { readonly isLate: true } | { readonly isLate: false; readonly result: Result };

export function bounded<Result>(seconds: number, work: () => Result): Bounded<Result> {
  Reflect.set(globalThis, place, work);
  try {
    const result = script.runInThisContext({ timeout: Math.ceil(seconds * 1000) }) as Result;
    return { isLate: false, result };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return { isLate: true };
    throw error;
  } finally {
    Reflect.deleteProperty(globalThis, place);
  }
}

/** Seconds after the time of a program, by which its interpreter should have ended it. */
const grace = 0.25;
/** Seconds that a program may live whose surroundings ask: what it waits is no time of its own. */
const longest = 600;

export const limitOf = (seconds: number, isAnswered: boolean): number =>
  seconds + (isAnswered ? longest : grace);
