/** Of a process that lives the system's programs are asked once, whatever the time zone, the case of letters and the slashes. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import {
  AskedProcesses,
  folderAfter,
  isSameStart,
  posix,
  writtenAs,
} from "../../../shared/daemon/askedProcesses.ts";

function system() {
  const seen = { asked: 0, now: 0, running: true };
  const asked = new AskedProcesses(
    { start: () => String(++seen.asked), command: () => `node ${++seen.asked}` },
    () => seen.running,
    () => seen.now,
  );
  return { seen, asked };
}

test("no program is started for a process that every look finds alive", () => {
  const { seen, asked } = system();
  const [start, command] = [asked.start(7), asked.command(7)];
  for (let look = 0; look < 120; look++) {
    seen.now += 500;
    assert.equal(asked.start(7), start);
    assert.equal(asked.command(7), command);
  }
  assert.equal(seen.asked, 2);
});

test("a number that may have been given to another process is asked about again", () => {
  const { seen, asked } = system();
  assert.equal(asked.start(7), "1");
  seen.now += 60_000;
  assert.equal(asked.start(7), "2", "nobody looked for a minute");
  seen.running = false;
  assert.deepEqual([asked.start(7), asked.command(7)], ["", ""]);
  seen.running = true;
  assert.equal(asked.start(7), "3", "it had ended");
});

test("a time zone makes no other process of one", () => {
  const zone = process.env["TZ"];
  try {
    const starts = ["Asia/Tokyo", "America/Lima"].map((name) => {
      process.env["TZ"] = name;
      return posix.start(process.pid);
    });
    assert.equal(starts[0], starts[1]);
    assert.match(starts[0] ?? "", /^(UTC \w+ |$)/);
    if (hasPs()) assert.notEqual(starts[0], "");
  } finally {
    if (zone === undefined) delete process.env["TZ"];
    else process.env["TZ"] = zone;
  }
  assert.ok(isSameStart("UTC Mon Nov 30 10:00:00 2026", "UTC Mon Nov 30 10:00:00 2026"));
  assert.ok(!isSameStart("UTC Mon Nov 30 10:00:00 2026", "UTC Mon Nov 30 11:00:00 2026"));
  assert.ok(isSameStart("Mon Nov 30 10:00:00 2026", "UTC Mon Nov 30 11:00:00 2026"), "of an earlier version");
  assert.ok(!isSameStart("", "UTC Mon Nov 30 11:00:00 2026"));
  assert.ok(!isSameStart("4711", "4712"), "ticks");
});

test("who knows when a process began writes it as the system's program would", () => {
  const moment = Date.UTC(2026, 10, 3, 7, 5, 9, 250);
  assert.equal(writtenAs(moment, "darwin"), "UTC Tue Nov  3 07:05:09 2026");
  assert.equal(writtenAs(moment, "win32"), "134381631092500000");
  for (const platform of ["darwin", "win32"] as const) {
    assert.ok(isSameStart(writtenAs(moment, platform), writtenAs(moment - 800, platform)));
    assert.ok(!isSameStart(writtenAs(moment, platform), writtenAs(moment + 60_000, platform)));
  }
});

test("a command line says the folder that a process was started for", () => {
  const windows = String.raw`"C:\Program Files\node.exe" C:\g\cli.mjs worker "C:\Users\Ann Lee\p\.gradus\runs\one" --attempt 2`;
  assert.equal(folderAfter(windows, ["worker"]), String.raw`C:\Users\Ann Lee\p\.gradus\runs\one`);
  const mac = "/usr/bin/node /g/cli.mjs daemon serve --store /Users/Ann Lee/p/.gradus\n";
  assert.equal(folderAfter(mac, ["serve", "--store"]), "/Users/Ann Lee/p/.gradus");
  assert.equal(folderAfter(mac, ["worker"]), "");
  assert.equal(folderAfter("node cli.mjs worker-of /p", ["worker"]), "");
});

function hasPs(): boolean {
  try {
    execFileSync("ps", ["-p", String(process.pid)], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
