/** What programs expect around the language: what Node has for reading and printing, written in the sandbox's own language. */
export const world = String.raw`
((write, input, ask) => {
  "use strict";
  const quoted = (text) =>
    !text.includes("'") ? "'" + text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n") + "'" : JSON.stringify(text);
  const key = (name) =>
    typeof name === "symbol" ? "[" + String(name) + "]" : /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
  const wrap = (open, parts, close, depth) => {
    if (parts.length === 0) return open.trimEnd() + close.trimStart();
    const line = open + parts.join(", ") + close;
    const pad = "  ".repeat(depth + 1);
    return line.length <= 76 && !line.includes("\n")
      ? line
      : open.trimEnd() + "\n" + pad + parts.join(",\n" + pad) + "\n" + "  ".repeat(depth) + close.trimStart();
  };
  const shown = (value, depth, seen) => {
    if (typeof value === "string") return quoted(value);
    if (typeof value === "bigint") return value + "n";
    if (Object.is(value, -0)) return "-0";
    if (typeof value === "function")
      return /^class/.test(Function.prototype.toString.call(value)) ? "[class " + value.name + "]" : "[Function: " + (value.name || "(anonymous)") + "]";
    if (typeof value !== "object" || value === null) return String(value);
    if (seen.includes(value)) return "[Circular *1]";
    if (value instanceof Error) return value.name + ": " + value.message + "\n" + (value.stack ?? "").trimEnd();
    if (value instanceof Date) return value.toISOString();
    if (value instanceof RegExp) return String(value);
    const inner = [...seen, value];
    const deep = (one) => shown(one, depth + 1, inner);
    if (depth > 2) return Array.isArray(value) ? "[Array]" : "[Object]";
    if (Array.isArray(value) || ArrayBuffer.isView(value)) {
      const parts = [];
      for (let i = 0, empty = 0; i <= Math.min(value.length, 100); i++) {
        const missing = i < value.length && !(i in value);
        if (missing) empty++;
        else {
          if (empty > 0) parts.push("<" + empty + " empty item" + (empty > 1 ? "s" : "") + ">");
          empty = 0;
          if (i < Math.min(value.length, 100)) parts.push(deep(value[i]));
        }
      }
      if (value.length > 100) parts.push("... " + (value.length - 100) + " more item" + (value.length > 101 ? "s" : ""));
      const name = Array.isArray(value) ? "" : value.constructor.name + "(" + value.length + ") ";
      return wrap(name + "[ ", parts, " ]", depth);
    }
    if (value instanceof Map)
      return wrap("Map(" + value.size + ") { ", [...value].map(([k, v]) => deep(k) + " => " + deep(v)), " }", depth);
    if (value instanceof Set) return wrap("Set(" + value.size + ") { ", [...value].map(deep), " }", depth);
    const maker = Object.getPrototypeOf(value)?.constructor?.name;
    const name = maker === undefined ? "[Object: null prototype] " : maker === "Object" ? "" : maker + " ";
    return wrap(name + "{ ", Reflect.ownKeys(value).filter((k) => Object.prototype.propertyIsEnumerable.call(value, k)).map((k) => key(k) + ": " + deep(value[k])), " }", depth);
  };
  const inspect = (value) => shown(value, 0, []);
  const format = (...values) => {
    const rest = [...values];
    let text = "";
    if (typeof rest[0] === "string" && rest.length > 1)
      text = rest.shift().replace(/%[sdifjoOc%]/g, (mark) => {
        if (mark === "%%") return "%";
        if (rest.length === 0) return mark;
        const value = rest.shift();
        if (mark === "%s") return typeof value === "string" ? value : typeof value === "object" ? inspect(value) : String(value);
        if (mark === "%d") return String(typeof value === "bigint" ? value + "n" : Number(value));
        if (mark === "%i") return String(parseInt(value));
        if (mark === "%f") return String(parseFloat(value));
        if (mark === "%j") return JSON.stringify(value);
        return mark === "%c" ? "" : inspect(value);
      });
    else if (rest.length > 0) {
      const value = rest.shift();
      text = typeof value === "string" ? value : inspect(value);
    }
    return [text, ...rest.map((value) => (typeof value === "string" ? value : inspect(value)))].join(" ");
  };
  const print = (...values) => write(1, format(...values) + "\n");
  const complain = (...values) => write(2, format(...values) + "\n");
  const console = { log: print, info: print, debug: print, error: complain, warn: complain, trace: complain, table: print, dir: print, time() {}, timeEnd() {}, group() {}, groupEnd() {}, count() {}, assert: (ok, ...values) => { if (!ok) complain("Assertion failed" + (values.length > 0 ? ": " + format(...values) : "")); } };

  let order = 0;
  const timers = [];
  const later = (call, ms, args, every) => {
    const timer = { at: (later.now ?? 0) + Math.max(1, Number(ms) || 0), order: order++, call, args, every, unref: () => timer, ref: () => timer };
    timers.push(timer);
    return timer;
  };
  const cancel = (timer) => {
    const at = timers.indexOf(timer);
    if (at >= 0) timers.splice(at, 1);
  };
  /** The next timer's call; false: there is none. Time does not pass while nothing runs. */
  const tick = () => {
    if (timers.length === 0) return false;
    const next = timers.reduce((a, b) => (b.at < a.at || (b.at === a.at && b.order < a.order) ? b : a));
    cancel(next);
    later.now = next.at;
    if (next.every) timers.push(Object.assign(next, { at: next.at + next.every, order: order++ }));
    next.call(...next.args);
    return true;
  };

  class Emitter {
    #calls = new Map();
    on(name, call) {
      this.#calls.set(name, [...(this.#calls.get(name) ?? []), call]);
      return this;
    }
    addListener(name, call) {
      return this.on(name, call);
    }
    once(name, call) {
      const one = (...args) => (this.off(name, one), call(...args));
      return this.on(name, one);
    }
    off(name, call) {
      this.#calls.set(name, (this.#calls.get(name) ?? []).filter((one) => one !== call));
      return this;
    }
    removeListener(name, call) {
      return this.off(name, call);
    }
    removeAllListeners() {
      this.#calls.clear();
      return this;
    }
    listenerCount(name) {
      return (this.#calls.get(name) ?? []).length;
    }
    emit(name, ...args) {
      const calls = this.#calls.get(name) ?? [];
      for (const call of calls) call.apply(this, args);
      return calls.length > 0;
    }
  }
  const linesOf = (text) => {
    const lines = text.split(/\r?\n/);
    if (lines.at(-1) === "") lines.pop();
    return lines;
  };
  class Stdin extends Emitter {
    fd = 0;
    isTTY = false;
    #begun = false;
    setEncoding() {
      return this;
    }
    resume() {
      if (this.#begun) return this;
      this.#begun = true;
      later(() => {
        if (input !== "") this.emit("data", input);
        this.emit("end");
        this.emit("close");
      }, 0, []);
      return this;
    }
    pause() {
      return this;
    }
    unref() {
      return this;
    }
    on(name, call) {
      super.on(name, call);
      if (name === "data" || name === "end") this.resume();
      if (name === "readable") later(call, 0, []);
      return this;
    }
    #read = false;
    read() {
      if (this.#read) return null;
      this.#read = true;
      later(() => this.emit("end"), 0, []);
      return input === "" ? null : input;
    }
    pipe(to) {
      to.write(input);
      return to;
    }
    async *[Symbol.asyncIterator]() {
      if (input !== "") yield input;
    }
  }
  class Readline extends Emitter {
    #lines = linesOf(input);
    #closed = false;
    #asked = [];
    constructor() {
      super();
      later(() => this.#go(), 0, []);
    }
    #go() {
      while (!this.#closed && this.#lines.length > 0 && (this.#asked.length > 0 || this.listenerCount("line") > 0)) {
        const line = this.#lines.shift();
        const ask = this.#asked.shift();
        if (ask !== undefined) ask(line);
        else this.emit("line", line);
      }
      if (this.#lines.length === 0) this.close();
    }
    question(text, ...rest) {
      write(1, text);
      this.#asked.push(rest.at(-1));
      later(() => this.#go(), 0, []);
    }
    setPrompt() {}
    prompt() {}
    pause() {
      return this;
    }
    resume() {
      return this;
    }
    write() {}
    close() {
      if (this.#closed) return;
      this.#closed = true;
      this.emit("close");
    }
    async *[Symbol.asyncIterator]() {
      while (this.#lines.length > 0) yield this.#lines.shift();
      this.#closed = true;
    }
  }
  const stream = (fd) => ({
    fd,
    isTTY: false,
    columns: 80,
    write: (text, ...rest) => (write(fd, String(text)), typeof rest.at(-1) === "function" && rest.at(-1)(), true),
    end: (text) => text !== undefined && write(fd, String(text)),
    on() {},
    once() {},
  });
  const stdin = new Stdin();
  class Refused extends Error {
    name = "Refused";
  }
  const refused = (what) => () => {
    throw new Refused(what);
  };
  const bytes = (text) => ({ toString: () => text, length: text.length, trim: () => text.trim(), split: (...args) => text.split(...args) });
  const readFileSync = (path, options) => {
    if (path !== 0 && path !== "/dev/stdin" && path !== "/dev/fd/0" && path !== stdin.fd) throw new Refused("the file " + path);
    return options === undefined || options === null || (typeof options === "object" && options.encoding === undefined) ? bytes(input) : input;
  };
  const fs = new Proxy(
    {
      readFileSync,
      readFile: (path, ...rest) => {
        const text = readFileSync(path, rest.length > 1 ? rest[0] : undefined);
        later(rest.at(-1), 0, [null, text]);
      },
      writeSync: (fd, text) => (fd === 1 || fd === 2 ? (write(fd, String(text)), String(text).length) : refused("a file")()),
      writeFileSync: (path, text) => (path === 1 || path === "/dev/stdout" ? write(1, String(text)) : refused("the file " + path)()),
      existsSync: (path) => path === "/dev/stdin",
      promises: { readFile: async (path, options) => readFileSync(path, options) },
    },
    { get: (own, name) => own[name] ?? (typeof name === "string" ? refused("a file, by fs." + name) : undefined) },
  );
  class AssertionError extends Error {
    name = "AssertionError";
  }
  const same = (a, b, strict) => {
    if (Object.is(a, b) || (!strict && a == b)) return true;
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
    if (Array.isArray(a) !== Array.isArray(b) || (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b))) return false;
    if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
    if (a instanceof Map && b instanceof Map) return a.size === b.size && [...a].every(([k, v]) => b.has(k) && same(v, b.get(k), strict));
    if (a instanceof Set && b instanceof Set) return a.size === b.size && [...a].every((one) => b.has(one) || [...b].some((other) => same(one, other, strict)));
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((k) => Object.hasOwn(b, k) && same(a[k], b[k], strict));
  };
  const claim = (ok, message, otherwise) => {
    if (ok) return;
    if (message instanceof Error) throw message;
    throw new AssertionError(message ?? otherwise());
  };
  const differ = (a, b) => () => inspect(a) + " is not " + inspect(b);
  const assert = Object.assign((value, message) => claim(value, message, () => inspect(value) + " is not true"), {
    AssertionError,
    ok: (value, message) => claim(value, message, () => inspect(value) + " is not true"),
    fail: (message) => claim(false, message, () => "failed"),
    equal: (a, b, message) => claim(a == b || (a !== a && b !== b), message, differ(a, b)),
    notEqual: (a, b, message) => claim(a != b, message, () => inspect(a) + " is " + inspect(b)),
    strictEqual: (a, b, message) => claim(Object.is(a, b), message, differ(a, b)),
    notStrictEqual: (a, b, message) => claim(!Object.is(a, b), message, () => inspect(a) + " is " + inspect(b)),
    deepEqual: (a, b, message) => claim(same(a, b, false), message, differ(a, b)),
    deepStrictEqual: (a, b, message) => claim(same(a, b, true), message, differ(a, b)),
    notDeepStrictEqual: (a, b, message) => claim(!same(a, b, true), message, () => inspect(a) + " is " + inspect(b)),
    throws: (call, message) => {
      try {
        call();
      } catch {
        return;
      }
      claim(false, typeof message === "string" ? message : undefined, () => "nothing was thrown");
    },
  });
  assert.strict = assert;
  class Exit extends Error {
    name = "Exit";
    constructor(code) {
      super(String(code));
      this.code = code;
    }
  }
  const process = { argv: ["node", "program.js"], env: {}, platform: "linux", version: "v20.0.0", versions: { node: "20.0.0" }, exitCode: undefined, stdin, stdout: stream(1), stderr: stream(2), cwd: () => "/", on: () => process, once: () => process, nextTick: (call, ...args) => Promise.resolve().then(() => call(...args)), hrtime: Object.assign(() => [0, 0], { bigint: () => 0n }), memoryUsage: () => ({ heapUsed: 0 }), uptime: () => 0, exit: (code = process.exitCode ?? 0) => { throw new Exit(code); } };
  const readline = { createInterface: () => new Readline(), promises: { createInterface: () => new Readline() } };
  const util = { inspect, format, isDeepStrictEqual: (a, b) => same(a, b, true), promisify: (call) => (...args) => new Promise((resolve, reject) => call(...args, (error, value) => (error ? reject(error) : resolve(value)))) };
  const perf_hooks = { performance: { now: () => Date.now() } };
  const modules = { fs, "fs/promises": fs.promises, readline, "readline/promises": readline.promises, assert, "assert/strict": assert, util, process, events: Object.assign(Emitter, { EventEmitter: Emitter, default: Emitter }), perf_hooks, os: { EOL: "\n", cpus: () => [] } };
  const network = ["net", "http", "https", "http2", "dgram", "dns", "tls"];
  const load = (name) => {
    const bare = String(name).replace(/^node:/, "");
    if (Object.hasOwn(modules, bare)) return modules[bare];
    if (network.includes(bare)) throw new Refused("the network, by " + bare);
    if (["child_process", "cluster", "worker_threads"].includes(bare)) throw new Refused("a process, by " + bare);
    const error = new Error("Cannot find module '" + name + "'");
    error.code = "MODULE_NOT_FOUND";
    throw error;
  };
  const module = { exports: {} };
  const define = (values) => {
    for (const [name, value] of Object.entries(values))
      Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  };
  const clone = (value, seen = new Map()) => {
    if (typeof value !== "object" || value === null) return value;
    if (seen.has(value)) return seen.get(value);
    if (value instanceof Date) return new Date(value);
    const made = Array.isArray(value) ? [] : value instanceof Map ? new Map() : value instanceof Set ? new Set() : {};
    seen.set(value, made);
    if (value instanceof Map) for (const [k, v] of value) made.set(clone(k, seen), clone(v, seen));
    else if (value instanceof Set) for (const v of value) made.add(clone(v, seen));
    else for (const k of Object.keys(value)) made[k] = clone(value[k], seen);
    return made;
  };
  define({
    console, process, require: load, module, exports: module.exports, global: globalThis, performance: perf_hooks.performance,
    setTimeout: (call, ms, ...args) => later(call, ms, args),
    setImmediate: (call, ...args) => later(call, 0, args),
    setInterval: (call, ms, ...args) => later(call, ms, args, Math.max(1, Number(ms) || 0)),
    clearTimeout: cancel, clearInterval: cancel, clearImmediate: cancel,
    queueMicrotask: (call) => void Promise.resolve().then(call),
    structuredClone: (value) => clone(value),
    fetch: refused("the network, by fetch"),
  });
  const names = Object.keys(modules);
  const exported = (name) => {
    const bare = name.replace(/^node:/, "");
    const own = load(bare);
    const list = bare === "fs" ? ["readFileSync", "readFile", "writeSync", "writeFileSync", "existsSync", "promises"] : Object.keys(own);
    return list.filter((one) => /^[A-Za-z_$][\w$]*$/.test(one) && one !== "default");
  };
  return { tick, exported, names };
})
`;
