/** How values go from one JavaScript state to another: as data; functions, instances of classes and what else has a state stay where they are and go by a number. */
export const crossing = String.raw`
const makeCrossing = (encodeOther, decodeOther) => {
  const is = Object.is, protoOf = Object.getPrototypeOf, isArray = Array.isArray, keysOf = Object.keys;
  const errors = { Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError };
  const plain = Object.prototype, protos = { array: Array.prototype, map: Map.prototype, set: Set.prototype, date: Date.prototype };
  const typed = { Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array };
  const encode = (value, depth = 0) => {
    if (value === null || typeof value === "boolean" || typeof value === "string") return value;
    if (typeof value === "number") return Number.isFinite(value) && !is(value, -0) ? value : ["n", is(value, -0) ? "-0" : String(value)];
    if (value === undefined) return ["u"];
    if (typeof value === "bigint") return ["i", String(value)];
    if (typeof value !== "object" || depth > 150) return encodeOther(value);
    const proto = protoOf(value), deep = (one) => encode(one, depth + 1);
    const pairs = () => keysOf(value).map((key) => [key, deep(value[key])]);
    if (isArray(value) && proto === protos.array) {
      const list = [];
      for (let k = 0; k < value.length; k++) list.push(k in value ? deep(value[k]) : ["hole"]);
      return ["l", list];
    }
    if (proto === plain) return ["d", pairs()];
    if (proto === null) return ["0", pairs()];
    if (proto === protos.map) return ["m", [...value].map(([k, v]) => [deep(k), deep(v)])];
    if (proto === protos.set) return ["s", [...value].map(deep)];
    if (proto === protos.date) return ["w", deep(value.getTime())];
    if (proto === RegExp.prototype) return ["x", value.source, value.flags];
    for (const name of keysOf(errors)) if (proto === errors[name].prototype) return ["E", name, String(value.message)];
    for (const name of keysOf(typed)) if (proto === typed[name].prototype) return ["T", name, [...value].map(deep)];
    return encodeOther(value);
  };
  const decode = (said) => {
    if (!isArray(said)) return said;
    const [kind, one, other] = said;
    if (kind === "n") return Number(one);
    if (kind === "u") return undefined;
    if (kind === "i") return BigInt(one);
    if (kind === "l") {
      const list = [];
      one.forEach((part, k) => (isArray(part) && part[0] === "hole" ? (list.length = k + 1) : (list[k] = decode(part))));
      return list;
    }
    if (kind === "d" || kind === "0") {
      const made = kind === "d" ? {} : Object.create(null);
      for (const [key, value] of one) Object.defineProperty(made, key, { value: decode(value), writable: true, enumerable: true, configurable: true });
      return made;
    }
    if (kind === "m") return new Map(one.map(([k, v]) => [decode(k), decode(v)]));
    if (kind === "s") return new Set(one.map(decode));
    if (kind === "w") return new Date(decode(one));
    if (kind === "x") return new RegExp(one, other);
    if (kind === "E") return new errors[one](other);
    if (kind === "T") return new typed[one](other.map(decode));
    return decodeOther(said);
  };
  return { encode, decode, errors };
};
`;

/** What answers for a program in its own state, once it has run. @see ../python/serve.ts */
export const serve = String.raw`
((ask) => {
  ${crossing}
  const { parse, stringify } = JSON;
  const [apply, construct] = [Reflect.apply, Reflect.construct];
  return (lookUp) => {
    const held = [], numbers = new Map();
    const keep = (value) => {
      if (!numbers.has(value)) numbers.set(value, held.push(value) - 1);
      return ["h", numbers.get(value), typeof value === "function"];
    };
    const { encode, decode, errors } = makeCrossing(keep, (said) => (said[0] === "b" ? said[1].reduce((at, key) => at[key], globalThis) : held[said[1]]));
    const ops = {
      name: ([name]) => (/^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u.test(name) ? lookUp(name) : undefined),
      get: ([target, key]) => target[key],
      set: ([target, key, value]) => void (target[key] = value),
      has: ([target, key]) => key in target,
      keys: ([target]) => Object.keys(target),
      list: ([target]) => [...target],
      primitive: ([target, hint]) => (hint === "number" ? Number(target) : hint === "string" ? String(target) : typeof target === "object" && target !== null && typeof target.valueOf() !== "object" ? target.valueOf() : String(target)),
      instance: ([value, type]) => value instanceof type,
      kind: ([target]) => keep(Object.getPrototypeOf(target))[1],
    };
    const done = ([op, ...words]) => {
      if (op !== "call" && op !== "new") return ["ok", encode(ops[op](words.map(decode)))];
      const [target, self, sent] = words;
      const args = sent.map(decode);
      const value = op === "new" ? construct(decode(target), args) : apply(decode(target), decode(self), args);
      const at = typeof value === "object" && value !== null ? args.indexOf(value) : -1;
      return ["ok", at < 0 ? encode(value) : ["a", at], args.map((one, k) => { const after = encode(one); return stringify(after) === stringify(sent[k]) ? null : [after]; })];
    };
    let reply = ["ready"];
    for (;;) {
      const text = ask(stringify(reply));
      if (text === null) return;
      try {
        reply = done(parse(text));
      } catch (error) {
        if (error?.name === "Exit") throw error;
        const isError = error instanceof Error;
        const line = isError ? Number(/program\.js:(\d+)/.exec(String(error.stack))?.[1] ?? NaN) : NaN;
        reply = ["no", isError ? String(error.name) : "", isError ? String(error.message) : "", isError ? null : encode(error), Number.isFinite(line) ? line : null];
      }
    }
  };
})
`;
