type Computed<Thing, Value> = (thing: Thing) => Value;

/**
 * A function of an object computed once for each: for what never changes once it is made. Each reading of a config builds
 * its own objects, so that what a rule learns from files by one of them lasts for that reading.
 */
export function perObject<Thing extends object, Value>(
  compute: Computed<Thing, Value>,
): Computed<Thing, Value> {
  const known = new WeakMap<Thing, { readonly value: Value }>();
  return (thing) => {
    if (watched.has(thing)) return compute(thing);
    const found = known.get(thing) ?? { value: compute(thing) };
    known.set(thing, found);
    return found.value;
  };
}

/** A function of a few names and numbers computed once for each: below `perObject`, of an object and a key. */
export function perKey<Key extends readonly (string | number)[], Value>(
  compute: (...key: Key) => Value,
): (...key: Key) => Value {
  const known = new Map<string, { readonly value: Value }>();
  return (...key) => {
    const name = key.join("\0");
    const found = known.get(name) ?? { value: compute(...key) };
    known.set(name, found);
    return found.value;
  };
}

const watched = new WeakSet<object>();

/** For what remembers who reads it: everything is computed again, or a reader would go unnoticed. */
export function neverOnce<Thing extends object>(thing: Thing): Thing {
  watched.add(thing);
  return thing;
}
