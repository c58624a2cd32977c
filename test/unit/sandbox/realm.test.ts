/** The JavaScript around Python: what is reachable there is its own, and cannot be changed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runInContext } from "node:vm";
import { partsOf } from "../../../server/lib/sandbox/parts.ts";
import { openRealm } from "../../../server/lib/sandbox/python/interpreter.ts";

test("nothing of this realm is reachable from that of Python, and all that is there is frozen", async () => {
  const parts = await partsOf("python");
  assert.equal(parts.language, "python");
  if (parts.language !== "python") return;
  const { context } = await openRealm(parts, () => null);
  const inside = runInContext("globalThis", context) as object;
  const seen = new Set<unknown>([inside]);
  const left: [string, unknown][] = Object.entries(Object.getOwnPropertyDescriptors(inside)).map(
    ([name, { value }]) => [name, value as unknown],
  );
  const own = runInContext("[Object, Function, Array, Promise, Error, Uint8Array]", context) as unknown[];
  left.push(...own.map((one): [string, unknown] => ["intrinsic", one]));
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [path, one] = next;
    if ((typeof one !== "object" && typeof one !== "function") || one === null || seen.has(one)) continue;
    seen.add(one);
    assert.ok(!(one instanceof Object), `${path} is of this realm`);
    assert.ok(Object.isFrozen(one) || ArrayBuffer.isView(one), `${path} can be changed`);
    left.push([`${path}.__proto__`, Object.getPrototypeOf(one)]);
    for (const key of Reflect.ownKeys(one)) {
      const { value, get, set } = Object.getOwnPropertyDescriptor(one, key) ?? {};
      for (const each of [value, get, set]) left.push([`${path}.${String(key)}`, each]);
    }
  }
  assert.ok(seen.size > 500, String(seen.size));
  for (const code of [
    "Error.prepareStackTrace = () => 1; Error.prepareStackTrace",
    "Uint8Array.prototype.set = 5; typeof Uint8Array.prototype.set === 'number' ? 1 : undefined",
    "globalThis.Promise = 5; Promise === 5 ? 1 : undefined",
    "typeof WebAssembly === 'undefined' || WebAssembly === undefined ? undefined : 1",
    "typeof process === 'undefined' ? undefined : 1",
  ])
    assert.equal(runInContext(code, context), undefined, code);
  for (const code of ["eval('1')", "(() => {}).constructor('return 1')()"])
    assert.throws(
      () => runInContext(code, context),
      (error) => !(error instanceof Error),
    );
});
