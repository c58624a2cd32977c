/** Work that must be done within a time. */
import { plural } from "../../../shared/lib/format.ts";

/**
 * @param what in the message: "the environment did not answer within 30 seconds"
 * @param work is given a signal of the end of its time, or of an abort from outside
 * @throws what the work throws; an Error where it takes too long; the signal's reason where that is aborted
 */
export function within<Value>(
  seconds: number,
  what: string,
  outside: AbortSignal,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const end = (reason: unknown): void => {
      reject(reason);
      controller.abort(reason);
    };
    const stop = (): void => end(outside.reason);
    const late = (): void => end(new Error(`${what} did not answer within ${plural(seconds, "second")}`));
    const timer = setTimeout(late, seconds * 1000);
    if (outside.aborted) stop();
    outside.addEventListener("abort", stop, { once: true });
    work(controller.signal)
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        outside.removeEventListener("abort", stop);
      });
  });
}
