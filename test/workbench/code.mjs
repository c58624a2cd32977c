#!/usr/bin/env node
// Stands in for the `code` executable that vscode-test starts: runs the same tests, with the same arguments, in the
// workbench under a headless Chromium. Exit status: the tests' own; 3 when the workbench itself failed.
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { format } from "node:util";

const limit = Number(process.env.GRADUS_WORKBENCH_LIMIT_MS ?? 540_000);
const root = resolve(import.meta.dirname, "..", "..");
const argv = process.argv.slice(2);
const option = (name) => argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
const opened = argv.find((word) => !word.startsWith("-"));

async function helpers() {
  const built = join(root, "out", "test", "support", "workbench.mjs");
  if (!existsSync(built)) {
    const [{ build }, { tests }] = await Promise.all([import("esbuild"), import("../../esbuild.mjs")]);
    await build(tests(["test/support/workbench.ts"]));
  }
  return import(built);
}

/** The editor's own chatter; what the tests print has none of these. */
const noise = [
  /^%c/,
  /^\[?(Extension Host|Embedded)/,
  /^(INFO|WARN|TRACE) /,
  /^(Resolving|Resolved) connection token|^Creating a socket|builtin extensions cache|ChatSessionStore/,
  /serviceWorker|open-vsx|vsda|TrustedTypes/,
];

/** Resolves with the tests' exit status; rejects when page or time ends first. */
function listen(page) {
  return new Promise((finish, fail) => {
    const timer = setTimeout(() => fail(new Error(`the tests did not end within ${limit / 1000} s`)), limit);
    const end = (code) => {
      clearTimeout(timer);
      finish(code);
    };
    page.once("crash", () => fail(new Error("the workbench's page crashed")));
    page.once("close", () => fail(new Error("the workbench's page was closed")));
    const log = (type, args) => {
      const text = format(...args);
      if (!noise.some((pattern) => pattern.test(text)))
        (type === "error" ? console.error : console.log)(text);
    };
    const ready = Promise.all([
      page.exposeFunction("codeAutomationLog", log),
      page.exposeFunction("codeAutomationExit", end),
    ]);
    ready.catch(fail);
  });
}

let workbench;
let exited;
const interrupt = async (signal) => {
  await workbench?.stop();
  process.exit(signal === "SIGINT" ? 130 : 143);
};
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, interrupt);

let code = 3;
try {
  const { startWorkbench } = await helpers();
  const options = {
    // A test may write into what it opens: the fixture itself stays as it is.
    ...(opened === undefined ? {} : { open: opened }),
    extensionDevelopmentPath: option("extensionDevelopmentPath"),
    extensionTestsPath: option("extensionTestsPath"),
    settings: JSON.parse(process.env.GRADUS_WORKBENCH_SETTINGS ?? "{}"),
    untrusted: process.env.GRADUS_WORKBENCH_UNTRUSTED === "1",
  };
  workbench = await startWorkbench(options, async (page) => {
    exited = listen(page);
    // Looked at below; an early failure must not count as unhandled meanwhile.
    exited.catch(() => undefined);
  });
  code = await exited;
} catch (error) {
  console.error(`workbench: ${error.message}`);
}
if (code !== 0 && workbench !== undefined) {
  for (const error of workbench.pageErrors) console.error(`page: ${error}`);
  const shot = await workbench
    .screenshot(`failed-${basename(opened ?? "empty")}`)
    .catch((error) => `no screenshot: ${error.message}`);
  console.error(`workbench: ${shot}`);
  if (code === 3) console.error(workbench.log().split("\n").slice(-20).join("\n"));
}
await workbench?.stop();
process.exit(code);
