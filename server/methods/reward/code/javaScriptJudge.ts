/** The code of a judge: a test in a clean JavaScript state, in which the names of the program are stubs that ask the program's own state. */
import { crossing } from "../../../lib/sandbox/javascript/crossing.ts";

export const javaScriptJudge = (test: string, word: string): string => String.raw`
(() => {
  const ask = globalThis.__gradusAsk;
  delete globalThis.__gradusAsk;
  ${crossing}
  class CannotCross extends Error {}
  let cannot;
  const theirs = [null, Object.prototype, Array.prototype, Map.prototype, Set.prototype];
  const numbers = new WeakMap(), stubs = new Map(), kinds = new Map(), known = new Map();
  // What a test gives by its name.
  const paths = new Map();
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const value = globalThis[name];
    const isOurs = typeof value === "function" || name === "Math" || name === "JSON";
    if (!isOurs) continue;
    if (typeof value === "function") paths.set(value, [name]);
    for (const part of Object.getOwnPropertyNames(value)) {
      const { value: inner } = Object.getOwnPropertyDescriptor(value, part);
      if (typeof inner === "function") paths.set(inner, [name, part]);
    }
  }
  /** One object for each prototype there: instances of one class have the same. */
  const kindOf = (id) => {
    if (!known.has(id)) known.set(id, heard(["kind", ["h", id]]));
    const kind = known.get(id);
    if (!kinds.has(kind)) kinds.set(kind, {});
    return kinds.get(kind);
  };
  const number = (value) => {
    if ((typeof value === "object" || typeof value === "function") && value !== null && numbers.has(value)) return ["h", numbers.get(value)];
    const path = typeof value === "function" ? paths.get(value) : undefined;
    if (path !== undefined) return ["b", path];
    // What a program chose to return, nested without end, is no reason to be graded by its own process.
    const proto = typeof value === "object" ? Object.getPrototypeOf(value) : undefined;
    if (theirs.includes(proto)) throw new Error("what the program returned is not readable");
    cannot = typeof value === "function" ? "a function of its own" : "an object of its own class";
    throw new CannotCross("the test gives the program what cannot cross");
  };
  const { encode, decode, errors } = makeCrossing(number, (said) => {
    if (said[0] !== "h") throw new Error("what the program returned is not readable");
    if (!stubs.has(said[1])) stubs.set(said[1], stubOf(said[1], said[2] === true));
    return stubs.get(said[1]);
  });
  const put = (arg, value) => {
    if (Array.isArray(arg)) return void arg.splice(0, arg.length, ...value);
    if (arg instanceof Map || arg instanceof Set) {
      arg.clear();
      for (const one of value) arg instanceof Map ? arg.set(...one) : arg.add(one);
      return;
    }
    if (typeof arg !== "object" || arg === null || Object.getPrototypeOf(arg) !== Object.prototype) return;
    for (const key of Object.keys(arg)) delete arg[key];
    Object.assign(arg, value);
  };
  const heard = (request, args = []) => {
    const text = ask(JSON.stringify(request));
    if (text === null) throw new Error("the program ended before its test");
    const said = JSON.parse(text);
    if (said[0] === "no") {
      const [, name, message, thrown] = said;
      if (thrown !== null) throw decode(thrown);
      const error = new (Object.hasOwn(errors, name) ? errors[name] : Error)(message);
      if (error.name !== name) error.name = name;
      throw error;
    }
    (said[2] ?? []).forEach((one, k) => one !== null && put(args[k], decode(one[0])));
    return Array.isArray(said[1]) && said[1][0] === "a" ? args[said[1][1]] : decode(said[1]);
  };
  const op = (name, ...args) => heard([name, ...args.map((one) => encode(one))]);
  const stubOf = (id, isFunction) => {
    const target = isFunction ? function () {} : Object.create({});
    const stub = new Proxy(target, {
      apply: (_target, self, args) => heard(["call", encode(stub), numbers.has(Object(self)) ? encode(self) : ["u"], args.map((one) => encode(one))], args),
      construct: (_target, args) => heard(["new", encode(stub), ["u"], args.map((one) => encode(one))], args),
      get: (_target, key) => {
        if (key === Symbol.iterator) return () => op("list", stub)[Symbol.iterator]();
        if (key === Symbol.toPrimitive) return (hint) => op("primitive", stub, hint);
        if (key === Symbol.hasInstance) return (value) => numbers.has(Object(value)) && op("instance", value, stub) === true;
        return typeof key === "symbol" ? undefined : op("get", stub, key);
      },
      getPrototypeOf: (_target) => (isFunction ? Function.prototype : kindOf(id)),
      set: (_target, key, value) => (op("set", stub, key, value), true),
      has: (_target, key) => typeof key === "string" && op("has", stub, key) === true,
      ownKeys: () => [...(isFunction ? Reflect.ownKeys(target) : op("keys", stub))],
      getOwnPropertyDescriptor: (_target, key) =>
        isFunction ? Reflect.getOwnPropertyDescriptor(target, key) : typeof key === "string" && op("keys", stub).includes(key) ? { value: op("get", stub, key), writable: true, enumerable: true, configurable: true } : undefined,
    });
    numbers.set(stub, id);
    return stub;
  };
  const assert = require("assert");
  console.assert = (ok, ...words) => assert(ok, words.join(" ") || undefined);
  const scope = new Proxy({ assert }, {
    has: (own, name) => typeof name === "string" && (name === "assert" || !(name in globalThis)),
    get: (own, name) => {
      if (typeof name === "symbol") return undefined;
      return name === "assert" ? own.assert : op("name", name);
    },
  });
  try {
    new Function("scope", "with (scope) {\n" + ${JSON.stringify(test)} + "\n}")(scope);
  } catch (error) {
    if (cannot === undefined) throw error;
  }
  process.stdout.write("\n" + ${JSON.stringify(word)} + (cannot === undefined ? "passed" : "cannot cross " + cannot) + "\n");
})();
`;
