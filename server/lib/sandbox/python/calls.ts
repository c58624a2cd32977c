/**
 * What the interpreter calls and the realm answers, a part of the realm's own script: descriptors, files, and a list of all that it may
 * call when the realm is closed.
 */
export const calls = `
  /** 1000: the harness tells; 1001: it asks. */
  const channel = (fd) => (fd === 1 || fd === 2 ? fd : fd === 1000 ? 0 : fd === 1001 ? 3 : -1);
  const mostSaid = 4194304;
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
  /** What is still to be read of an answer: four bytes of length (all ones: no answer), then its text. */
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
        const isMuch = to === 1 || to === 2 ? out.length + err.length + bytes.length > state.most : state.sinks[to].length + bytes.length > mostSaid;
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
    "_Py_CheckEmscriptenSignals_Helper", "_PyEM_TrampolineCall_JS", "_Py_emscripten_runtime", "_emscripten_get_progname", "_gmtime_js", "_localtime_js", "_mktime_js", "_timegm_js", "_tzset_js", "_maybe_poll_async", "_try_fcntl64",
    "clock_res_get", "clock_time_get", "emscripten_date_now", "emscripten_get_heap_max", "emscripten_get_now", "environ_get", "environ_sizes_get",
    "fd_close", "fd_fdstat_get", "fd_pread", "fd_read", "fd_seek",
    "__syscall_faccessat", "__syscall_fcntl64", "__syscall_fstat64", "__syscall_fstatfs64", "__syscall_getcwd", "__syscall_getdents64", "__syscall_getuid32_js", "__syscall_ioctl", "__syscall_lstat64", "__syscall_newfstatat", "__syscall_poll", "__syscall_readlinkat", "__syscall_stat64", "__syscall_statfs64", "__syscall_umask_js",
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
    ...syscalls(["socket", "connect", "bind", "listen", "accept4", "sendto", "recvfrom", "sendmsg", "recvmsg", "getpeername", "getsockname", "getsockopt"], () => "the network"),
    ...syscalls(["dup", "dup3", "pipe"], () => "another file descriptor"),
    ...Object.fromEntries(["getaddrinfo", "getnameinfo", "getprotobyname", "_emscripten_lookup_name"].map((name) => [name, refuse(() => "the network")])),
    ...Object.fromEntries(["_mmap_js", "_msync_js", "_munmap_js", "__syscall_fadvise64"].map((name) => [name, refuse(() => "a file")])),
    fd_sync: () => 0,
    fd_pwrite: () => 8,
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
    // 0 and 1030 duplicate a descriptor.
    __syscall_fcntl64: (fd, command, ...rest) => (command === 0 || command === 1030 ? refused.__syscall_dup() : was.__syscall_fcntl64(fd, command, ...rest)),
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
`;
