/**
 * Work counted, not timed: what goes through lists, maps and sets while a function runs. Twice the input is twice the steps
 * where the work is linear, on any machine at any load. Index loops and strings are not counted.
 */

type Method = (this: unknown, ...given: unknown[]) => unknown;

/** Steps of one call. It changes the built-in classes meanwhile: the file has a process of its own. */
export function stepsOf(work: () => unknown): number {
  let steps = 0;
  const restore: (() => void)[] = [];
  const patch = (of: object, name: string | symbol, make: (own: Method) => Method): void => {
    const own = Object.getOwnPropertyDescriptor(of, name)!;
    restore.push(() => Object.defineProperty(of, name, own));
    Object.defineProperty(of, name, { ...own, value: make(own.value as Method) });
  };
  const iterating = (own: Method): Method =>
    function (...given) {
      const inner = own.apply(this, given) as IterableIterator<unknown>;
      const next = (): IteratorResult<unknown> => {
        steps += 1;
        return inner.next();
      };
      return { next, [Symbol.iterator]: () => ({ next }) };
    };
  const calling = (own: Method): Method =>
    function (callback, ...rest) {
      if (typeof callback !== "function") return own.call(this, callback, ...rest);
      const counted = function (this: unknown, ...given: unknown[]): unknown {
        steps += 1;
        return (callback as Method).apply(this, given);
      };
      return own.call(this, counted, ...rest);
    };
  const seeking = (own: Method): Method =>
    function (...given) {
      const found = own.apply(this, given);
      steps += typeof found === "number" && found >= 0 ? found + 1 : (this as unknown[]).length;
      return found;
    };
  for (const name of [
    "find",
    "findIndex",
    "findLast",
    "some",
    "every",
    "filter",
    "map",
    "flatMap",
    "forEach",
    "reduce",
  ])
    patch(Array.prototype, name, calling);
  for (const name of ["indexOf", "includes"]) patch(Array.prototype, name, seeking);
  for (const name of ["entries", Symbol.iterator]) patch(Array.prototype, name, iterating);
  for (const of of [Map.prototype, Set.prototype])
    for (const name of ["entries", "values", "keys", Symbol.iterator]) patch(of, name, iterating);
  try {
    work();
    return steps;
  } finally {
    for (const back of restore.reverse()) back();
  }
}

/** How the steps of the second half of an input compare with those of the half before it: 2 linear, 4 quadratic. */
export function growthOf(work: (size: number) => unknown, size: number): number {
  const [quarter, half, whole] = [size / 4, size / 2, size].map((of) => stepsOf(() => work(of)));
  return (whole! - half!) / (half! - quarter!);
}
