import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  asNode,
  findNode,
  languageNode,
  nativeRoot,
  recordedNode,
  requireNode,
  slowEngine,
} from "../../../extension/features/connection/node.ts";
import { installCommand } from "../../../shared/lib/systemWords.mjs";
import { UserError } from "../../../shared/lib/errors.ts";
import { contentSecurityPolicy, page } from "../../../extension/vscode/html.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-node-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function file(path: string, text = ""): string {
  const whole = join(folder, path);
  mkdirSync(join(whole, ".."), { recursive: true });
  writeFileSync(whole, text);
  chmodSync(whole, 0o755);
  return whole;
}
const places = (environment: Record<string, string> = {}) => ({
  home: join(folder, "installed"),
  version: "0.1.0",
  environment: { XDG_DATA_HOME: join(folder, "data"), ...environment },
  editor: join(folder, "editor", "electron"),
});

test("the setting wins, then what set-up recorded, then the PATH; without any there is none", () => {
  assert.equal(findNode(places(), ""), undefined);
  const onPath = file("bin/node");
  const environment = { PATH: [join(folder, "nothing"), join(folder, "bin")].join(":") };
  assert.deepEqual(findNode(places(environment), ""), { path: onPath, from: "PATH" });
  const recorded = file("recorded/node");
  const record = join("data", "gradus", "native-root", "0.1.0", "node_modules", ".gradus", "setup.json");
  file(record, JSON.stringify({ node: { path: recorded } }));
  assert.deepEqual(findNode(places(environment), ""), { path: recorded, from: "set-up" });
  assert.deepEqual(findNode(places(environment), "/mine/node"), { path: "/mine/node", from: "setting" });
  file(record, JSON.stringify({ node: { path: join(folder, "removed") } }));
  assert.equal(recordedNode(places()), undefined, "a Node that has gone is not recorded");
  file(record, "{ half");
  assert.equal(recordedNode(places()), undefined, "half a record is none");
});

test("without a native engine a person reads what runs compute on, why, what helps and the way to a GPU", () => {
  const record = join("slow", "node_modules", ".gradus", "setup.json");
  const slow = places({ GRADUS_NATIVE_ROOT: join(folder, "slow") });
  assert.equal(slowEngine(slow), undefined);
  file(record, JSON.stringify({ engine: { backend: "native", reason: "TensorFlow 2.21.0" } }));
  assert.equal(slowEngine(slow), undefined);
  file(
    record,
    JSON.stringify({ engine: { backend: "wasm", reason: "no index is named", mend: "name one" } }),
  );
  assert.match(
    slowEngine(slow) ?? "",
    /^Runs compute on WebAssembly here, ten to twenty times slower: no index is named\. To fix it: name one\. For a GPU, .*Remote-SSH.*dev container/,
  );
});

test("without any Node the message has the command for this system", () => {
  assert.throws(
    () => requireNode(undefined),
    (error) => error instanceof UserError && (error.detail.action ?? "").includes(installCommand("node")),
  );
});

test("a setting that names nothing is refused by its name, and the language server goes without it", () => {
  const missing = join(folder, "no", "node");
  const setting = { path: missing, from: "setting" } as const;
  const isNodePath = (error: unknown): boolean =>
    error instanceof UserError &&
    error.detail.code === "node-path" &&
    error.message.includes("gradus.nodePath") &&
    !error.message.includes("ENOENT");
  assert.throws(
    () => requireNode(undefined),
    (error) => error instanceof UserError && error.detail.code === "node-path",
    "set-up starts under a Node, too: only the setting helps",
  );
  assert.throws(() => requireNode(setting), isNodePath);
  assert.throws(() => requireNode(setting), new RegExp(missing));
  mkdirSync(join(folder, "a-folder"), { recursive: true });
  assert.throws(() => requireNode({ path: join(folder, "a-folder"), from: "setting" }), isNodePath);
  const text = file("text/node");
  chmodSync(text, 0o644);
  if (process.getuid?.() !== 0) assert.throws(() => requireNode({ path: text, from: "setting" }), isNodePath);
  const real = file("real/node");
  assert.deepEqual(requireNode({ path: real, from: "setting" }), { path: real, from: "setting" });

  const environment = { PATH: join(folder, "real") };
  assert.deepEqual(languageNode(places(environment), missing), { path: real, from: "PATH" });
  assert.deepEqual(languageNode(places(environment), real), { path: real, from: "setting" });
});

test("without any Node the language server runs on the editor's own, as Node, and nothing else does", () => {
  const editor = languageNode(places(), "");
  assert.deepEqual(editor, { path: join(folder, "editor", "electron"), from: "editor" });
  assert.deepEqual(languageNode(places(), join(folder, "no", "node")), editor);
  assert.deepEqual(asNode(editor), { ELECTRON_RUN_AS_NODE: "1" });
  assert.deepEqual(asNode({ path: "/usr/bin/node", from: "PATH" }), {});
  assert.equal(findNode(places(), ""), undefined);
});

test("a checkout keeps its native packages; an installed extension has them in a folder per version", () => {
  file("checkout/server/cli.ts");
  assert.equal(nativeRoot({ ...places(), home: join(folder, "checkout") }), join(folder, "checkout"));
  assert.equal(nativeRoot(places()), join(folder, "data", "gradus", "native-root", "0.1.0"));
  assert.equal(nativeRoot(places({ GRADUS_NATIVE_ROOT: "/elsewhere" })), "/elsewhere");
});

test("the panel's page has a policy without unsafe sources, and escapes what it is given", () => {
  const parts = {
    title: `<script>alert("x")</script>`,
    nonce: "abc",
    source: "https://local",
    script: "https://local/a.js?x&y",
    style: "https://local/a.css",
  };
  const html = page(parts);
  assert.ok(!html.includes("<script>alert"));
  assert.ok(html.includes("a.js?x&amp;y"));
  const policy = contentSecurityPolicy(parts);
  assert.ok(policy.startsWith("default-src 'none'"));
  assert.ok(!policy.includes("unsafe"));
  assert.ok(!/style=/.test(html), "no inline style");
});
