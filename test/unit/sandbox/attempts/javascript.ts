/**
 * JavaScript programs that try to leave, to read, to spoil what comes after them, or to take more than they may. One that gets
 * what it wants prints PASSED.
 */
import type { Attempt } from "./attempt.ts";

const attempt = (kind: Attempt["kind"], tries: string, code: string): Attempt => ({
  name: `javascript: ${tries}`,
  tries,
  kind,
  language: "javascript",
  code,
});
/** An expression that is true where something of the host is reached. */
const isHost = (value: string): string =>
  `const found = ${value}; if (found && (found.getBuiltinModule || found.binding || (found.pid > 0))) console.log("PASSED");`;

export const attempts: readonly Attempt[] = [
  attempt(
    "escape",
    "asks the constructor of a constructor for the process",
    isHost(`(() => {}).constructor.constructor("return process")()`),
  ),
  attempt(
    "escape",
    "asks the function that prints for its realm",
    isHost(`console.log.constructor("return process")()`),
  ),
  attempt(
    "escape",
    "asks the functions of the process for their realm",
    isHost(`process.stdout.write.constructor.constructor("return globalThis.process")()`),
  ),
  attempt(
    "escape",
    "asks an error of the surroundings for its realm",
    `let own; try { require("net") } catch (error) { own = error.constructor.constructor("return process")() } ${isHost("own")}`,
  ),
  attempt(
    "escape",
    "asks a refused promise of an import for its realm",
    `const p = import("node:fs"); p.catch(() => {}); ${isHost(`p.constructor.constructor("return process")()`)}`,
  ),
  attempt(
    "escape",
    "imports a module of the host",
    `import { spawnSync } from "node:child_process";\nconsole.log("PASSED", spawnSync)`,
  ),
  attempt("escape", "imports a file", `import x from "/etc/passwd";\nconsole.log("PASSED")`),
  attempt(
    "escape",
    "requires by the process's own loader",
    `console.log("PASSED", process.mainModule.require("child_process").execSync("id"))`,
  ),
  attempt("escape", "asks for a built-in module", `console.log("PASSED", process.getBuiltinModule("fs"))`),
  attempt("escape", "binds to the host", `console.log("PASSED", process.binding("spawn_sync"))`),
  attempt(
    "escape",
    "writes how stacks are shown, to be given frames of the host",
    `
Error.prepareStackTrace = (error, sites) => sites;
const sites = new Error("x").stack;
if (Array.isArray(sites)) for (const site of sites) { const f = site.getFunction?.(); if (f) { ${isHost(`f.constructor("return process")()`)} } }
`,
  ),
  attempt(
    "escape",
    "makes a module of WebAssembly",
    `console.log("PASSED", new WebAssembly.Memory({ initial: 1 }))`,
  ),
  attempt("escape", "makes a worker", `new Worker("x"); console.log("PASSED")`),
  attempt(
    "escape",
    "loads QuickJS's own modules",
    `import * as std from "std"; import * as os from "os";\nconsole.log("PASSED", std.getenv, os.exec.name)`,
  ),
  attempt(
    "escape",
    "overflows the stack in a function of the host",
    `
const deep = (n) => { try { return deep(n + 1) } catch (e) { if (e.constructor !== RangeError && e.constructor !== Error && e.constructor.name !== "InternalError") { ${isHost(`e.constructor.constructor("return process")()`)} } throw e } };
deep(0)
`,
  ),
  attempt(
    "escape",
    "gives the printing function an object that answers in the host",
    `
const trap = new Proxy({}, { get: (_t, name) => { if (name === "constructor") console.log("PASSED") ; return undefined } });
process.stdout.write({ toString() { throw trap } });
`,
  ),
  attempt(
    "escape",
    "throws a proxy whose texts are functions",
    `throw new Proxy({}, { get: (_t, name) => () => name, ownKeys: () => ["name", "message", "stack"] })`,
  ),
  attempt("fake", "throws null, which is no good end", `throw null`),
  attempt("fake", "throws undefined, which is no good end", `throw undefined`),
  attempt("fake", "rejects with undefined in a module", `await Promise.reject(undefined)`),
  attempt(
    "fake",
    "throws what looks like a good exit, with a text for a code",
    `throw Object.assign(new Error("0"), { name: "Exit", code: "0" })`,
  ),
  attempt("fake", "throws an error whose message is a number", `throw { name: 5, message: 7, stack: {} }`),
  attempt(
    "read",
    "reads a file",
    `console.log("PASSED", require("fs").readFileSync("/etc/passwd", "utf8").length)`,
  ),
  attempt(
    "read",
    "reads a file by a promise",
    `require("fs").promises.readFile("/etc/passwd", "utf8").then((t) => console.log("PASSED"))`,
  ),
  attempt(
    "read",
    "opens a stream of a file",
    `require("fs").createReadStream("/etc/passwd").on("data", () => console.log("PASSED"))`,
  ),
  attempt(
    "read",
    "reads the machine's variables",
    `if (Object.keys(process.env).length > 0) console.log("PASSED")`,
  ),
  attempt("read", "fetches", `fetch("http://127.0.0.1:22/").then(() => console.log("PASSED"))`),
  attempt("read", "connects", `require("net").connect(22); console.log("PASSED")`),
  attempt(
    "poison",
    "changes what all objects have",
    `
Object.prototype.then = (f) => f(1); Object.prototype.kind = "ready"; Object.prototype.toJSON = () => 5;
Array.prototype.push = Array.prototype.map = String.prototype.replace = Function.prototype.call = null;
`,
  ),
  attempt(
    "poison",
    "replaces JSON and promises",
    `JSON.stringify = JSON.parse = () => "x"; globalThis.Promise = class {}; globalThis.console = globalThis.process = globalThis.require = undefined`,
  ),
  attempt(
    "poison",
    "leaves timers and promises without end",
    `setInterval(() => {}, 1); new Promise(() => {}); process.exit(0)`,
  ),
  attempt(
    "poison",
    "freezes what all share",
    `for (const one of [Object, Array, Function, String, Map, Promise]) { Object.freeze(one); Object.freeze(one.prototype) }`,
  ),
  attempt(
    "poison",
    "fills its memory and leaves",
    `const a = []; try { for (;;) a.push(new Array(1e4).fill(1)) } catch { process.exit(0) }`,
  ),
  attempt("exhaust", "loops without end", `for (;;);`),
  attempt("exhaust", "matches an expression without end", `/^(a+)+$/.test("a".repeat(40) + "b")`),
  attempt(
    "exhaust",
    "adds promises without end",
    `const again = () => Promise.resolve().then(again); again()`,
  ),
  attempt("exhaust", "adds timers without end", `const again = () => setTimeout(again, 0); again()`),
  attempt("exhaust", "prints without end", `for (;;) process.stdout.write("x")`),
  attempt(
    "exhaust",
    "makes a text of its memory and prints it",
    `let s = "x"; for (;;) { s += s; process.stderr.write(s) }`,
  ),
  attempt("exhaust", "throws an error of many megabytes", `throw new Error("x".repeat(20 << 20))`),
  attempt("exhaust", "recurses without end in a getter", `const o = { get a() { return this.a } }; o.a`),
  attempt("exhaust", "nests what it throws", `let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; throw o`),
];
