/** Sites by name, and what is wrong in their files. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { UserError } from "../../../shared/lib/errors.ts";
import { checkSite } from "../../../server/sites/siteFile.ts";
import { siteOf, sitePlace } from "../../../server/sites/siteOf.ts";

const base = mkdtempSync(join(tmpdir(), "gradus-sites-"));
after(() => rmSync(base, { recursive: true, force: true }));
const deep = join(base, "project", "runs", "deep");
mkdirSync(deep, { recursive: true });
mkdirSync(join(base, "project", "sites"));
const site = (name: string, text: string): string => {
  const file = join(base, "project", "sites", name);
  writeFileSync(file, text);
  return file;
};

describe("a site", () => {
  it("is a file of the nearest folder `sites`, also by its path", () => {
    const file = site("box.yaml", "kind: ssh\nhost: me@10.0.0.1\nport: 2222\npython: ~/venv/bin/python\n");
    const found = siteOf("box", deep);
    assert.deepEqual([found.name, found.reference, found.shell.name], ["box", "box", "box"]);
    assert.deepEqual(found.config, {
      kind: "ssh",
      host: "me@10.0.0.1",
      port: 2222,
      folder: "~/gradus-runs",
      python: "~/venv/bin/python",
      node: "node",
      env: {},
    });
    for (const path of [file, join("..", "..", "sites", "box.yaml")])
      assert.deepEqual([siteOf(path, deep).name, siteOf(path, deep).reference], ["box", file]);
  });

  it("is this machine, or else a host of ssh", () => {
    assert.equal(siteOf("here", deep).shell.name, "this machine");
    const { config } = siteOf("me@gpu-3", deep);
    assert.deepEqual(config.kind === "ssh" && config.host, "me@gpu-3");
    for (const name of ["-oProxyCommand=x", "a b", ""])
      assert.throws(() => siteOf(name, deep), /is the name of no host/);
    assert.throws(() => siteOf("./none.yaml", deep), /cannot be read: there is no such file/);
  });

  it("has errors with their places", () => {
    const problems = (text: string) =>
      checkSite("/x/sites/box.yaml", text).diagnostics.map(
        ({ message, range: { start }, fixes }) =>
          `${start.line + 1}:${start.character + 1} ${message}${fixes.map(({ title }) => ` (${title})`).join("")}`,
      );
    assert.deepEqual(problems("kind: ssh\nhots: box\nport: 0\n"), [
      "1:7 A site of the kind `ssh` has a `host`: an alias of ~/.ssh/config, or user@host.",
      "3:7 `port`: Too small: expected number to be >=1.",
      "2:1 `hots` is not a key of a site. Did you mean `host`? Allowed: `kind`, `host`, `port`, `folder`, `python`, `node`, `launch`, `env` or `price`. (Change to `host`)",
    ]);
    assert.deepEqual(problems("kind: here\nhost: box\nprice: { gpu_hours: 2 }\n"), [
      "3:8 `price.gpu_hour` is missing.",
      "3:10 `gpu_hours` is not a key of `price`. Did you mean `gpu_hour`? Allowed: `gpu_hour` or `currency`. (Change to `gpu_hour`)",
      "2:1 `host` is not a key of a site. Allowed: `kind`, `folder`, `python`, `node`, `launch`, `env` or `price`.",
    ]);
    assert.match(
      problems("kind: cloud\n")[0] ?? "",
      /^1:7 A site is of one of the kinds `here`, `ssh`, .*: write `kind: ssh`/,
    );
    assert.match(problems("host: box\n")[0] ?? "", /^1:1 A site is of one of the kinds/);
    assert.match(problems("")[0] ?? "", /^1:1 A site says at least what it is/);
    assert.match(problems("kind: [ssh\n")[0] ?? "", /never closed/);
    assert.throws(
      () => siteOf(site("wrong.yaml", "kind: ssh\nhost: box\npyton: x\n"), base),
      (error) =>
        error instanceof UserError && error.detail.line === 2 && /Did you mean `python`/.test(error.message),
    );
  });
});

describe("a folder of a site", () => {
  it("is written as scp has it, and no path of this machine is one", () => {
    assert.deepEqual(sitePlace("box:runs/gsm/out"), { site: "box", folder: "runs/gsm/out" });
    assert.deepEqual(sitePlace("me@10.0.0.1:~/a:b"), { site: "me@10.0.0.1", folder: "~/a:b" });
    assert.deepEqual(sitePlace("[::1]:/x"), { site: "::1", folder: "/x" });
    assert.deepEqual(sitePlace("sites/box.yaml:out"), { site: "sites/box.yaml", folder: "out" });
    assert.deepEqual(sitePlace("box:"), { site: "box", folder: "." });
    for (const path of ["C:\\x", "C:/x", "out", "./a:b", "/a:b", "a/b:c", base])
      assert.equal(sitePlace(path), undefined, path);
    writeFileSync(join(base, "a:b"), "");
    assert.equal(sitePlace(join(base, "a:b")), undefined);
  });
});
