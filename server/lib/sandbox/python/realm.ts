/**
 * The JavaScript around the Python interpreter, in a realm of its own (a `vm` context): it has the language's own objects and
 * no other, neither Node's nor a web browser's, and makes no code of strings. So what Python could reach through Pyodide's
 * bridge is nothing. Only data goes in and out; no function or object of ours may be reachable inside.
 */

import { calls } from "./calls.ts";
import { closing } from "./closing.ts";

/** What Pyodide needs and the language has not. It takes the realm for that of a shell: one without a network. */
export const shell = `
"use strict";
const utf8 = (text) => {
  const out = new Uint8Array(text.length * 3);
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i);
    if (code > 0xffff) i++;
    const c = code >= 0xd800 && code < 0xe000 ? 0xfffd : code;
    if (c < 0x80) {
      out[at++] = c;
      continue;
    }
    const more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    out[at++] = (more === 1 ? 0xc0 : more === 2 ? 0xe0 : 0xf0) | (c >> (6 * more));
    for (let k = more - 1; k >= 0; k--) out[at++] = 0x80 | ((c >> (6 * k)) & 63);
  }
  return out.slice(0, at);
};
const fromUtf8 = (bytes) => {
  let text = "";
  for (let i = 0; i < bytes.length; ) {
    const c = bytes[i++];
    const more = c < 0xc0 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
    let code = more === 0 ? c : c & (0x3f >> more);
    for (let k = 0; k < more; k++) code = (code << 6) | (bytes[i++] & 63);
    text += code > 0x10ffff ? "\\ufffd" : String.fromCodePoint(code);
  }
  return text;
};
globalThis.TextEncoder = class {
  encode(text = "") {
    return utf8(text);
  }
  encodeInto(text, into) {
    const bytes = utf8(text).subarray(0, into.length);
    into.set(bytes);
    return { read: text.length, written: bytes.length };
  }
};
globalThis.TextDecoder = class {
  constructor(label = "utf-8") {
    this.label = label;
  }
  decode(bytes) {
    if (bytes === undefined) return "";
    const view = ArrayBuffer.isView(bytes)
      ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      : new Uint8Array(bytes);
    if (!/16/.test(this.label)) return fromUtf8(view);
    let text = "";
    for (let i = 0; i + 1 < view.length; i += 2) text += String.fromCharCode(view[i] | (view[i + 1] << 8));
    return text;
  }
};
globalThis.performance = { now: () => Date.now() };
globalThis.console = { log() {}, info() {}, debug() {}, warn() {}, error() {} };
// Python waits in no other way than this realm's.
delete WebAssembly.Suspending;
delete WebAssembly.promising;
globalThis.setTimeout = (call, _ms, ...args) => (Promise.resolve().then(() => call(...args)), 1);
globalThis.clearTimeout = () => {};
globalThis.load = globalThis.read = (path) => {
  throw new Error("nothing to read: " + path);
};
`;

/**
 * The system calls as the program meets them. Standard input, output and errors are ours; of files only the standard library
 * can be read; the rest is refused, and what was asked for is kept in \`asked\`.
 */
export const world = `
"use strict";
((create, wasm, library, image, version, askHost) => {
  Object.setPrototypeOf(wasm, WebAssembly.Module.prototype);
  const inside = (bytes) => {
    const own = new Uint8Array(bytes.length);
    own.set(bytes);
    return own;
  };
  const archive = inside(library).buffer;
  globalThis.readbuffer = (path) => (path.endsWith(".zip") ? archive : new ArrayBuffer(0));
  const fresh = () => ({
    input: { bytes: new Uint8Array(0), at: 0 },
    answer: { bytes: new Uint8Array(0), at: 0 },
    // What is written: said, printed, errors, a question.
    sinks: [0, 1, 2, 3].map(() => ({ bytes: new Uint8Array(256), length: 0 })),
    fault: "",
    denied: false,
    flooded: false,
    asked: "",
    fired: false,
    chance: 1,
  });
  const state = { ...fresh(), most: Infinity, memory: Infinity, next: Infinity, closed: false };
  let memory;
  const heap = () => new DataView(memory.buffer);
  const longestName = 4096;
  const text = (pointer) => {
    const bytes = new Uint8Array(memory.buffer).subarray(pointer, pointer + longestName);
    const end = bytes.indexOf(0);
    return fromUtf8(end < 0 ? bytes : bytes.subarray(0, end));
  };
  const ended = { ended: true };
  const none = 2;
  const refuse = (what) => (...args) => {
    if (state.closed && state.asked === "") state.asked = what(args);
    return -none;
  };
  const vectors = (list, count, each) => {
    const view = heap();
    let sum = 0;
    for (let k = 0; k < count; k++) {
      const pointer = view.getUint32(list + 8 * k, true);
      const length = view.getUint32(list + 8 * k + 4, true);
      const done = each(new Uint8Array(memory.buffer, pointer, length));
      sum += done;
      if (done < length) break;
    }
    return sum;
  };
${calls}
  // It grows by more than is asked for, and never beyond what a program may hold.
  const { grow } = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = function (pages) {
    const most = Math.floor((state.memory - this.buffer.byteLength) / 65536);
    return grow.call(this, Math.min(pages, most));
  };
  const instantiate = WebAssembly.instantiate;
  WebAssembly.instantiate = async (bytes, imports) => {
    if (bytes.byteLength !== 0) return instantiate(bytes, imports);
    wrap(imports);
    const instance = new WebAssembly.Instance(wasm, imports);
    memory = instance.exports.memory ?? imports.env.memory;
    state.exports = instance.exports;
    return { instance, module: wasm };
  };
  const c = (string) => {
    const bytes = utf8(string);
    const pointer = state.exports.malloc(bytes.length + 1);
    if (pointer === 0) throw new RangeError("out of memory");
    const view = new Uint8Array(memory.buffer, pointer, bytes.length + 1);
    view.set(bytes);
    view[bytes.length] = 0;
    return pointer;
  };
  const clock = {
    get 0() {
      const now = Date.now();
      if (now < state.next) return 0;
      state.fired = true;
      state.next = now + 50;
      return 2;
    },
    set 0(_value) {},
  };
  const execute = (code) => {
    const pointer = c(code);
    return state.exports.PyRun_SimpleStringFlags(pointer, 0);
  };
${closing}
  let clean;
  /** Files that were open, and how far they had been read. */
  let streams;
  const api = {
    async start(abi) {
      const py = await loadPyodide({
        indexURL: "/",
        lockFileContents: { info: { abi_version: abi, arch: "wasm32", platform: "emscripten", python: "3", version }, packages: {} },
        packageBaseUrl: "/none/",
        env: { PYTHONHASHSEED: "0", HOME: "/" },
        createPyodideModule: create,
        ...(image === null ? { _makeSnapshot: true } : { _loadSnapshot: inside(image) }),
      });
      // A copy of the memory is kept, not two.
      image = null;
      if (py._api?.config) py._api.config._loadSnapshot = undefined;
      state.py = py;
    },
    /** Before the bridge is closed. */
    image: (code) => {
      if (execute(code) !== 0) throw new Error("the library's modules could not be loaded");
      return state.py.makeMemorySnapshot();
    },
    /** From now on: no bridge, no files, and this state again before each program. */
    close(code) {
      state.py.setInterruptBuffer(clock);
      state.fs = state.py.FS;
      state.py = undefined;
      removeModules();
      if (execute(code) !== 0) throw new Error("the harness could not be loaded");
      for (const name of ["loadPyodide", "readbuffer", "read", "load", "setTimeout", "WebAssembly"]) globalThis[name] = undefined;
      freezeRealm();
      streams = opened().map((stream) => ({ stream, position: stream.position, flags: stream.flags }));
      state.table = state.exports.__indirect_function_table?.length;
      clean = new Uint8Array(memory.buffer).slice();
      state.stack = state.exports.emscripten_stack_get_current();
      state.closed = true;
    },
    /** What a program leaves in the memory, and outside it: open files, the table of functions. @returns whether it is as clean as it was */
    restore() {
      for (const stream of opened()) if (!streams.some((one) => one.stream === stream)) state.fs.close(stream);
      for (const { stream, position, flags } of streams) Object.assign(stream, { position, flags });
      state.exports._emscripten_stack_restore(state.stack);
      const now = new Uint8Array(memory.buffer);
      now.set(clean);
      now.fill(0, clean.length);
      Object.assign(state, fresh());
      return opened().length === streams.length && state.exports.__indirect_function_table?.length === state.table;
    },
    /** MiB; none: it has not grown. */
    held: () => (memory.buffer.byteLength > clean.length ? memory.buffer.byteLength / 1048576 : 0),
    run(code, stdin, seconds, bytes, most) {
      const begun = Date.now();
      Object.assign(state, { input: { bytes: inside(stdin), at: 0 }, memory: bytes, most, next: begun + seconds * 1000 });
      let fault = "";
      let broken = false;
      try {
        execute(code);
      } catch (error) {
        const ours = error !== null && typeof error === "object" && error.ended === true;
        broken = !ours || state.fault !== "";
        fault = !ours ? String(error) : error.code === undefined ? state.fault || "output" : "exit " + error.code;
      }
      state.next = Infinity;
      const { denied, flooded, asked, fired } = state;
      return { fault, broken, denied, flooded, asked, fired, said: taken(0), stdout: taken(1), stderr: taken(2) };
    },
  };
  return api;
})
`;
