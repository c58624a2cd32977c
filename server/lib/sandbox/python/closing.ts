/** What is taken out of the interpreter and of the realm around it before the first program: parts of the realm's own script. */

/** Modules by which Python reaches the realm, its own memory, or processes. */
const removed = [
  "_ctypes",
  "_ctypes_test",
  "_posixsubprocess",
  "_pyodide_core",
  "_testbuffer",
  "_testcapi",
  "_testclinic",
  "_testinternalcapi",
  "_testlimitedcapi",
  "_testmultiphase",
  "_testsinglephase",
  "_xxtestfuzz",
];

/**
 * \`removeModules\`: takes modules out of the tables that \`import\` looks into, the one that CPython is linked with and the
 * copies that it made, and what it keeps of those that were imported before. To hide their names in \`sys.modules\` would hide nothing.
 *
 * \`freezeRealm\`: the language's own objects are as they were, whatever a program comes to.
 */
export const closing = `
  const removed = new Set(${JSON.stringify(removed)});
  const words = () => new Uint32Array(memory.buffer);
  const named = (pointer) => text(pointer).split(":")[0];
  const isPlace = (pointer) => pointer > 1024 && pointer % 4 === 0 && pointer < memory.buffer.byteLength - 64;
  /** A table of a name and a function each, to the first without a name. */
  const strike = (table) => {
    let at = table >> 2;
    let to = at;
    for (; words()[at] !== 0; at += 2)
      if (!removed.has(text(words()[at]))) {
        words()[to] = words()[at];
        words()[to + 1] = words()[at + 1];
        to += 2;
      }
    const count = (at - to) / 2;
    words().fill(0, to, at);
    return count;
  };
  /** Of modules of a single phase: found again by "path:name", whatever the tables say. */
  const forget = (hashtable) => {
    const [, buckets, list] = words().subarray(hashtable >> 2);
    for (let k = 0; k < buckets; k++)
      for (let entry = words()[(list >> 2) + k]; entry !== 0; entry = words()[entry >> 2]) {
        const key = words()[(entry >> 2) + 2];
        if (removed.has(named(key))) new Uint8Array(memory.buffer)[key] = 1;
      }
  };
  const removeModules = () => {
    const { PyImport_Inittab, _PyRuntime } = state.exports;
    const linked = words()[PyImport_Inittab.value >> 2];
    const first = text(words()[linked >> 2]);
    const runtime = _PyRuntime.value >> 2;
    let count = 0;
    for (let at = runtime; at < runtime + (1 << 14); at++) {
      const table = words()[at];
      if (table === linked || !isPlace(table) || text(words()[table >> 2]) !== first) continue;
      count += strike(table);
      if (isPlace(words()[at + 3])) forget(words()[at + 3]);
    }
    if (count === 0) throw new Error("the interpreter's table of modules was not found");
    strike(linked);
  };
  const freezeRealm = () => {
    const seen = new Set();
    const left = [function () {}, async () => {}, function* () {}, async function* () {}, [][Symbol.iterator](), new Map().entries(), new Set().entries(), ""[Symbol.iterator](), "".matchAll(/a/g), Uint8Array];
    for (const name of Object.getOwnPropertyNames(globalThis)) {
      if (name === "globalThis") continue;
      left.push(globalThis[name]);
      const { value } = Object.getOwnPropertyDescriptor(globalThis, name);
      Object.defineProperty(globalThis, name, { value, writable: false, configurable: false });
    }
    while (left.length > 0) {
      const one = left.pop();
      if (one === null || (typeof one !== "object" && typeof one !== "function") || one === globalThis || seen.has(one)) continue;
      seen.add(one);
      left.push(Object.getPrototypeOf(one));
      for (const key of Reflect.ownKeys(one)) {
        const { value, get, set } = Object.getOwnPropertyDescriptor(one, key);
        left.push(value, get, set);
      }
      if (!ArrayBuffer.isView(one)) Object.freeze(one);
    }
  };
`;
