import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { appendControl, readControl } from "../../../shared/run/controlFile.ts";
import { openControl } from "../../../shared/run/control.ts";
import { controlAction } from "../../../server/store/files.ts";
import { needs } from "../../support/system.ts";

const base = mkdtempSync(join(tmpdir(), "gradus-control-"));
after(() => rmSync(base, { recursive: true }));
const line = '{"id":"one","action":"stop"}\n';
const folder = (): string => mkdtempSync(join(base, "run-"));

describe("the file that steers a run", () => {
  it("is made by the first line and read from where one stopped", () => {
    const run = folder();
    assert.equal(readControl(run).length, 0);
    const control = openControl(run, false);
    appendControl(run, line);
    assert.deepEqual(control.read().lines, [{ id: "one", action: "stop" }]);
    appendControl(run, line.replace("one", "two"));
    assert.deepEqual(control.read().lines, [{ id: "two", action: "stop" }]);
    assert.equal(controlAction(run, "two"), "stop");
  });

  it("is no link: what that leads to is neither written nor read", needs.links, () => {
    const run = folder();
    const victim = join(base, "victim");
    writeFileSync(victim, line);
    symlinkSync(victim, join(run, "control.jsonl"));
    assert.throws(() => appendControl(run, line), /is not a regular file/);
    assert.equal(readFileSync(victim, "utf8"), line);
    assert.deepEqual(openControl(run, false).read(), { lines: [], unreadable: [] });
    assert.equal(controlAction(run, "one"), null);
  });

  it("is no pipe: nothing waits at its other end", needs.pipes, () => {
    const run = folder();
    execFileSync("mkfifo", [join(run, "control.jsonl")]);
    assert.throws(() => appendControl(run, line), /is not a regular file/);
    assert.equal(openControl(run, false).read().lines.length, 0);
  });
});
