type Computed<Thing, Value> = (thing: Thing) => Value;

/** A function of an object computed once for each: for what never changes once it is made. */
export const perObject = <Thing extends object, Value>(
  compute: Computed<Thing, Value>,
): Computed<Thing, Value> => remembered(compute, () => 0);

let readings = 0;

/** A config is read again: files that it names may have changed since the last time. */
export const newReading = (): void => void (readings += 1);

/** A function of an object and of files, computed once for each reading of a config. */
export const perReading = <Thing extends object, Value>(
  compute: Computed<Thing, Value>,
): Computed<Thing, Value> => remembered(compute, () => readings);

function remembered<Thing extends object, Value>(
  compute: Computed<Thing, Value>,
  now: () => number,
): Computed<Thing, Value> {
  const known = new WeakMap<Thing, { readonly at: number; readonly value: Value }>();
  return (thing) => {
    if (watched.has(thing)) return compute(thing);
    const found = known.get(thing);
    if (found?.at === now()) return found.value;
    const value = compute(thing);
    known.set(thing, { at: now(), value });
    return value;
  };
}

const watched = new WeakSet<object>();

/** For what remembers who reads it: everything is computed again, or a reader would go unnoticed. */
export function neverOnce<Thing extends object>(thing: Thing): Thing {
  watched.add(thing);
  return thing;
}
