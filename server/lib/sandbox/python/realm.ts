/**
 * The JavaScript around the Python interpreter, in a realm of its own (a `vm` context): it has the language's own objects and
 * no other, neither Node's nor a web browser's, and makes no code of strings. So what Python could reach through Pyodide's
 * bridge is nothing. Only data goes in and out; no function or object of ours may be reachable inside.
 */

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
    // What is written: told, printed, errors, a question.
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
  /** 1000: the harness tells; 1001: it asks. */
  const channel = (fd) => (fd === 1 || fd === 2 ? fd : fd === 1000 ? 0 : fd === 1001 ? 3 : -1);
  const mostTold = 4194304;
  const append = (sink, bytes) => {
    const length = sink.length + bytes.length;
    if (length > sink.bytes.length) {
      const larger = new Uint8Array(Math.max(length, 2 * sink.bytes.length));
      larger.set(sink.bytes.subarray(0, sink.length));
      sink.bytes = larger;
    }
    sink.bytes.set(bytes, sink.length);
    sink.length = length;
  };
  const taken = (to) => state.sinks[to].bytes.slice(0, state.sinks[to].length);
  /** What is still to be read of an answer: four bytes of length (all ones: nobody answers), then its text. */
  const answered = () => {
    if (state.answer.at < state.answer.bytes.length) return state.answer;
    const begun = Date.now();
    const question = taken(3);
    state.sinks[3].length = 0;
    let words = null;
    try {
      words = askHost(question);
    } catch {
      throw ended;
    }
    const text = words === null ? new Uint8Array(0) : utf8(words);
    const bytes = new Uint8Array(4 + text.length);
    new DataView(bytes.buffer).setUint32(0, words === null ? 0xffffffff : text.length, true);
    bytes.set(text, 4);
    state.answer = { bytes, at: 0 };
    state.next += Date.now() - begun;
    return state.answer;
  };
  const calls = {
    fd_write(fd, list, count, result) {
      const to = channel(fd);
      if (to < 0) return 8;
      const sum = vectors(list, count, (bytes) => {
        const [, out, err] = state.sinks;
        const isMuch = to === 1 || to === 2 ? out.length + err.length + bytes.length > state.most : state.sinks[to].length + bytes.length > mostTold;
        if (isMuch) {
          state.flooded = true;
          throw ended;
        }
        append(state.sinks[to], bytes);
        return bytes.length;
      });
      heap().setUint32(result, sum, true);
      return 0;
    },
    fd_read(fd, list, count, result) {
      const from = fd === 0 ? state.input : answered();
      const sum = vectors(list, count, (bytes) => {
        const part = from.bytes.subarray(from.at, from.at + bytes.length);
        bytes.set(part);
        from.at += part.length;
        return part.length;
      });
      heap().setUint32(result, sum, true);
      return 0;
    },
    random_get(pointer, length) {
      const bytes = new Uint8Array(memory.buffer, pointer, length);
      for (let i = 0; i < length; i++) {
        state.chance = (Math.imul(state.chance, 1664525) + 1013904223) >>> 0;
        bytes[i] = state.chance >>> 24;
      }
      return 0;
    },
  };
  const isLibrary = (path) => /^\\/lib(\\/python|$)/.test(path) && !path.includes("/..");
  /** What the interpreter may still ask of the realm when it is closed: to read, the time, and what is there. */
  const kept = new Set([
    "_Py_CheckEmscriptenSignals_Helper", "_PyEM_TrampolineCall_JS", "_Py_emscripten_runtime", "_emscripten_get_progname", "_gmtime_js", "_localtime_js", "_mktime_js", "_timegm_js", "_tzset_js",
    "clock_res_get", "clock_time_get", "emscripten_date_now", "emscripten_get_heap_max", "emscripten_get_now", "environ_get", "environ_sizes_get",
    "fd_close", "fd_fdstat_get", "fd_pread", "fd_read", "fd_seek",
    "__syscall_faccessat", "__syscall_fcntl64", "__syscall_fstat64", "__syscall_fstatfs64", "__syscall_getcwd", "__syscall_getdents64", "__syscall_getuid32_js", "__syscall_ioctl", "__syscall_lstat64", "__syscall_newfstatat", "__syscall_readlinkat", "__syscall_stat64", "__syscall_statfs64", "__syscall_umask_js",
  ]);
  const cut = (name) => () => {
    state.fault = "reached for what is not there: " + name;
    throw ended;
  };
  const nameAt = (index) => (args) => "the file " + text(args[index]);
  const syscalls = (names, what) => Object.fromEntries(names.map((name) => ["__syscall_" + name, refuse(what)]));
  const refused = {
    ...syscalls(["mkdirat", "mknodat", "unlinkat", "symlinkat", "renameat", "fchownat", "fchmodat2", "utimensat"], nameAt(1)),
    ...syscalls(["rmdir", "chmod", "truncate64", "chdir"], nameAt(0)),
    ...syscalls(["ftruncate64", "fallocate", "fchmod", "fchown32", "fchdir", "fdatasync"], () => "to change a file"),
    ...syscalls(["socket", "connect", "bind", "listen", "accept4", "sendto", "recvfrom", "sendmsg", "recvmsg", "getpeername", "getsockname", "getsockopt", "poll"], () => "the network"),
    ...syscalls(["dup", "dup3", "pipe"], () => "another file descriptor"),
    ...Object.fromEntries(["getaddrinfo", "getnameinfo", "getprotobyname", "_emscripten_lookup_name"].map((name) => [name, refuse(() => "the network")])),
    _emscripten_system: refuse(() => "a process"),
    __call_sighandler: refuse(() => "a process"),
    _setitimer_js: refuse(() => "a timer"),
  };
  const leave = (code) => {
    throw { ended: true, code };
  };
  /** The calls that are served otherwise when it is closed. @param was of Pyodide */
  const served = (was) => ({
    ...refused,
    fd_write: calls.fd_write,
    fd_read: (fd, ...rest) => (fd === 0 || fd === 1001 ? calls.fd_read(fd, ...rest) : was.fd_read(fd, ...rest)),
    fd_close: (fd) => (fd < 3 ? 0 : was.fd_close(fd)),
    emscripten_resize_heap(size) {
      if ((size >>> 0) <= state.memory) return was.emscripten_resize_heap(size);
      state.denied = true;
      return 0;
    },
    __syscall_openat(fd, path, flags, ...rest) {
      const name = text(path);
      if (isLibrary(name) && (flags & 0o1103) === 0) return opened().length > mostOpen ? -33 : was.__syscall_openat(fd, path, flags, ...rest);
      if (!name.endsWith(".pyc") && !name.includes("pyvenv.cfg") && state.asked === "") state.asked = "the file " + name;
      return -none;
    },
  });
  const mostOpen = 128;
  const opened = () => state.fs.streams.filter((one) => one !== undefined && one !== null);
  /** Each function that the interpreter calls: what it is until the realm is closed, and from then on. */
  const wrap = ({ env }) => {
    const was = { ...env };
    const after = served(was);
    const always = { random_get: calls.random_get, proc_exit: leave, exit: leave, emscripten_force_exit: leave };
    for (const [name, original] of Object.entries(was)) {
      if (typeof original !== "function") continue;
      const later = after[name] ?? (kept.has(name) ? original : cut(name));
      env[name] = Object.assign(always[name] ?? ((...args) => (state.closed ? later(...args) : original(...args))), original);
    }
  };
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
      streams = opened().map((stream) => ({ stream, position: stream.position }));
      state.table = state.exports.__indirect_function_table?.length;
      clean = new Uint8Array(memory.buffer).slice();
      state.stack = state.exports.emscripten_stack_get_current();
      state.closed = true;
    },
    /** What a program leaves in the memory, and outside it: open files, the table of functions. @returns whether it is as clean as it was */
    restore() {
      for (const stream of opened()) if (!streams.some((one) => one.stream === stream)) state.fs.close(stream);
      for (const { stream, position } of streams) stream.position = position;
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
