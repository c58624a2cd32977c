import assert from "node:assert/strict";
import { test } from "node:test";
import { gradus } from "../../support/cli.ts";

test("engine status reports what computes, what is linked and what it is made of", async () => {
  const { code, stdout } = await gradus(["engine", "status", "--json"]);
  const value = JSON.parse(stdout);
  assert.equal(code, value.ok ? 0 : 1);
  assert.ok(["native", "wasm"].includes(value.computes.backend));
  assert.equal(value.node.version, process.versions.node);
  assert.equal(value.addon.nodeApi, 8);
  for (const { libraries, variant } of value.engines) {
    assert.ok(["cpu", "gpu"].includes(variant));
    assert.deepEqual(Object.keys(libraries), ["libtensorflow_cc.so.2", "libtensorflow_framework.so.2"]);
  }
  if (value.computes.backend === "native") assert.notEqual(value.linked.kind, "none");
  const text = await gradus(["engine", "status"]);
  assert.match(text.stdout, /^computes +(native|WebAssembly)/);
  assert.match(text.stdout, /^linked /m);
});

test("engine has no other words, and says which it has", async () => {
  const { code, stderr } = await gradus(["engine", "instal"]);
  assert.equal(code, 2);
  assert.match(stderr, /Did you mean install\?/);
});
