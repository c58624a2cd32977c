/**
 * The JavaScript around the Python interpreter, in a realm of its own (a `vm` context): it has the language's own objects and
 * no other, neither Node's nor a web browser's, and makes no code of strings. So what Python could reach through Pyodide's
 * bridge is nothing. Only data goes in and out; no function or object of ours may be reachable inside.
 */

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
    chunks: [[], [], [], []],
    held: [0, 0, 0, 0],
    denied: false,
    flooded: false,
    asked: "",
    fired: false,
    chance: 1,
  });
  const state = { ...fresh(), most: Infinity, memory: Infinity, next: Infinity, closed: false };
  let memory;
  const heap = () => new DataView(memory.buffer);
  const text = (pointer) => {
    const bytes = new Uint8Array(memory.buffer);
    let end = pointer;
    while (bytes[end] !== 0) end++;
    return fromUtf8(bytes.slice(pointer, end));
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
  const mostPieces = 1 << 20;
  /** What is still to be read of an answer: four bytes of length (all ones: nobody answers), then its text. */
  const answered = () => {
    if (state.answer.at < state.answer.bytes.length) return state.answer;
    const begun = Date.now();
    const question = joined(state.chunks[3]);
    state.chunks[3] = [];
    state.held[3] = 0;
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
        const isPrinted = to === 1 || to === 2;
        const held = state.held[to] + bytes.length;
        if ((isPrinted ? state.held[1] + state.held[2] + bytes.length > state.most : held > mostTold) || state.chunks[to].length > mostPieces) {
          state.flooded = true;
          throw ended;
        }
        state.held[to] = held;
        state.chunks[to].push(bytes.slice());
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
  const wrap = (imports) => {
    const { env, wasi_snapshot_preview1: wasi } = imports;
    const { fd_read, fd_write, fd_close } = wasi;
    wasi.random_get = calls.random_get;
    wasi.fd_write = (fd, ...rest) => (state.closed ? calls.fd_write(fd, ...rest) : fd_write(fd, ...rest));
    wasi.fd_read = (fd, ...rest) => (state.closed && (fd === 0 || fd === 1001) ? calls.fd_read(fd, ...rest) : fd_read(fd, ...rest));
    wasi.fd_close = (fd) => (state.closed && fd < 3 ? 0 : fd_close(fd));
    const leave = (code) => {
      throw { ended: true, code };
    };
    wasi.proc_exit = leave;
    env.exit = leave;
    env.emscripten_force_exit = leave;
    const resize = env.emscripten_resize_heap;
    env.emscripten_resize_heap = (size) => {
      if ((size >>> 0) <= state.memory) return resize(size);
      state.denied = true;
      return 0;
    };
    const open = env.__syscall_openat;
    env.__syscall_openat = (fd, path, flags, ...rest) => {
      if (!state.closed) return open(fd, path, flags, ...rest);
      const name = text(path);
      if (isLibrary(name) && (flags & 0o1103) === 0) return open(fd, path, flags, ...rest);
      if (!name.endsWith(".pyc") && !name.includes("pyvenv.cfg") && state.asked === "") state.asked = "the file " + name;
      return -none;
    };
    const named = (index) => (args) => "the file " + text(args[index]);
    const over = (name, what) => {
      const original = env[name];
      if (original !== undefined) env[name] = (...args) => (state.closed ? refuse(what)(...args) : original(...args));
    };
    for (const name of ["mkdirat", "mknodat", "unlinkat", "symlinkat", "renameat", "fchownat", "fchmodat2", "utimensat"])
      over("__syscall_" + name, named(1));
    for (const name of ["rmdir", "chmod", "truncate64", "chdir"]) over("__syscall_" + name, named(0));
    for (const name of ["ftruncate64", "fallocate", "fchmod", "fchown32", "fchdir"])
      over("__syscall_" + name, () => "to change a file");
    for (const name of ["socket", "connect", "bind", "listen", "accept4", "sendto", "recvfrom"])
      over("__syscall_" + name, () => "the network");
    for (const name of ["dup", "dup3", "pipe"]) over("__syscall_" + name, () => "another file descriptor");
    over("_emscripten_system", () => "a process");
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
  const joined = (chunks) => {
    const all = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const chunk of chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    return all;
  };
  let clean;
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
      state.py = undefined;
      if (execute(code) !== 0) throw new Error("the harness could not be loaded");
      for (const name of ["loadPyodide", "readbuffer", "read", "load", "setTimeout", "WebAssembly"]) globalThis[name] = undefined;
      clean = new Uint8Array(memory.buffer).slice();
      state.stack = state.exports.emscripten_stack_get_current();
      state.closed = true;
    },
    /** As clean as it was. */
    restore() {
      const now = new Uint8Array(memory.buffer);
      now.set(clean);
      now.fill(0, clean.length);
      Object.assign(state, fresh());
      return true;
    },
    held: () => memory.buffer.byteLength / 1048576,
    run(code, stdin, seconds, bytes, most) {
      const begun = Date.now();
      Object.assign(state, { input: { bytes: inside(stdin), at: 0 }, memory: bytes, most, next: begun + seconds * 1000 });
      let fault = "";
      let broken = false;
      try {
        execute(code);
      } catch (error) {
        const ours = error !== null && typeof error === "object" && error.ended === true;
        broken = !ours;
        fault = !ours ? String(error) : error.code === undefined ? "output" : "exit " + error.code;
        // The stack's pointer is no part of the memory.
        if (ours) state.exports._emscripten_stack_restore(state.stack);
      }
      state.next = Infinity;
      const { denied, flooded, asked, fired, chunks } = state;
      return { fault, broken, denied, flooded, asked, fired, said: joined(chunks[0]), stdout: joined(chunks[1]), stderr: joined(chunks[2]) };
    },
  };
  return api;
})
`;
