/** Programs that call whatever they can reach with odd arguments, drawn by a seed. One that meets something of the host prints PASSED. */
import type { SandboxLanguage } from "../../../../server/lib/sandbox/sandbox.ts";

/** A converter of the bridge alone meets nothing: it converts proxies, and there are none (python.ts tries that). */
const python = (seed: number, calls: number): string => `
import gc, os, random, sys, types
draw = random.Random(${seed})
odd = [None, True, 0, -1, 1, 3, 7, 1000, 1001, 2**31, 2**63, -2**64, 1.5, float("nan"), "", "x", "\\x00", "/lib/python314.zip", "/etc/passwd", "_ctypes", "js", b"", b"x" * 70, bytearray(8), [], [1], (), (1, 2), {}, {"a": 1}, set(), object(), int, type, len, print, sys, os, lambda *a, **k: None, range(3), memoryview(b"abc"), slice(1)]
left_out = {"input", "breakpoint", "sleep", "_exit", "abort", "exit", "quit", "raise_signal", "pause", "get_objects", "set_debug"}
def reachable():
    for name, module in list(sys.modules.items()):
        if module is None: continue
        for key in list(vars(module)):
            yield name + "." + key, vars(module)[key]
    for one in object.__subclasses__():
        for key in list(vars(one)):
            yield one.__name__ + "." + key, vars(one)[key]
    for one in gc.get_objects():
        if isinstance(one, (types.BuiltinFunctionType, types.MethodType)): yield "gc." + one.__name__, one
found = [(name, one) for name, one in reachable() if callable(one) and name.split(".")[-1] not in left_out]
write = os.write
for _ in range(${calls}):
    name, one = draw.choice(found)
    arguments = [draw.choice(odd) for _ in range(draw.randrange(4))]
    try:
        made = one(*arguments)
        for each in (made, getattr(made, "__class__", None), getattr(made, "constructor", None)):
            if (type(each).__name__.startswith("Js") and type(each).__name__ != "Js2PyConverter") or type(each).__module__ in ("js", "pyodide.ffi"): write(1, b"PASSED " + name.encode())
    except BaseException:
        pass
`;

const javaScript = (seed: number, calls: number): string => `
let state = ${seed} >>> 0;
const draw = (list) => list[(state = (Math.imul(state, 1664525) + 1013904223) >>> 0, state % list.length)];
const odd = [undefined, null, true, 0, -1, 1e9, NaN, "", "x", "/etc/passwd", "constructor", 5n, Symbol.iterator, [], [1, 2], {}, () => 1, new Proxy({}, {}), new Uint8Array(4), new Map(), /a/g, Promise.resolve(), Reflect, globalThis];
const found = new Map();
const walk = (one, path, depth) => {
  if (one === null || (typeof one !== "object" && typeof one !== "function") || found.has(one) || depth > 4) return;
  found.set(one, path);
  for (const key of Reflect.ownKeys(one)) {
    let own;
    try { own = Object.getOwnPropertyDescriptor(one, key) } catch { continue }
    for (const each of [own?.value, own?.get, own?.set]) walk(each, path + "." + String(key), depth + 1);
  }
  try { walk(Object.getPrototypeOf(one), path + ".__proto__", depth + 1) } catch {}
};
walk(globalThis, "globalThis", 0);
for (const name of ["fs", "util", "assert", "readline", "events", "os"]) walk(require(name), name, 0);
const functions = [...found].filter(([one, path]) => typeof one === "function" && !/exit$/.test(path));
const { log } = console;
const isHost = (one) => { try { return one !== null && typeof one === "object" && (typeof one.getBuiltinModule === "function" || typeof one.binding === "function" || one.release?.name === "node") } catch { return false } };
for (let k = 0; k < ${calls}; k++) {
  const [one, path] = draw(functions);
  const values = Array.from({ length: state % 4 }, () => draw(odd));
  for (const call of [() => Reflect.apply(one, draw(odd), values), () => Reflect.construct(one, values)])
    try {
      const made = call();
      if (isHost(made) || isHost(made?.constructor?.constructor?.("return globalThis.process")?.())) log("PASSED", path);
    } catch {}
}
process.exit(0);
`;

export const fuzz: Readonly<Record<SandboxLanguage, (seed: number, calls: number) => string>> = {
  python,
  javascript: javaScript,
};
