/**
 * What a module that tests share leaves, removed as the process ends. A hook of the runner's would belong to the file that loads
 * the module first, and run when that file ends: others that run in its process would lose what they still use.
 */
const ends: (() => void)[] = [];

/** @param end does all of it before it returns */
export function atExit(end: () => void): void {
  if (ends.push(end) === 1) process.once("exit", () => ends.toReversed().forEach((one) => one()));
}
