/** SkyPilot by its command: one of ours answers in the shapes of SkyPilot 0.14's own models (no cloud). */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, describe, it } from "node:test";
import { here } from "../../../server/sites/here.ts";
import type { JobState } from "../../../server/sites/jobs/runner.ts";
import { skypilot } from "../../../server/sites/jobs/skypilot.ts";

const root = mkdtempSync(join(tmpdir(), "gradus-sky-"));
const path = process.env["PATH"];
process.env["PATH"] = `${join(root, "bin")}${delimiter}${path}`;
after(() => {
  process.env["PATH"] = path;
  rmSync(root, { recursive: true, force: true });
});

mkdirSync(join(root, "bin"));
writeFileSync(
  join(root, "bin", "sky"),
  `#!/bin/sh
for word; do printf '[%s]' "$word"; done >> '${root}/calls'; echo >> '${root}/calls'
case "$1" in
status) cat '${root}/status' ;;
queue) cat '${root}/queue' ;;
exec) echo '{"box": [{"job_id": 7, "job_name": "gradus-a", "status": "PENDING", "username": "me"}]}' > '${root}/queue' ;;
launch) [ -e '${root}/no' ] && { echo 'ResourcesUnavailableError: no H100 in any region' >&2; exit 1; }; echo '[{"name": "box", "status": "UP"}]' > '${root}/status' ;;
esac
`,
);
chmodSync(join(root, "bin", "sky"), 0o755);
const write = (name: string, text: string): void => writeFileSync(join(root, name), text);
const calls = (): string[] => readFileSync(join(root, "calls"), "utf8").trimEnd().split("\n");

const runner = skypilot({ local: here(), cluster: "box", task: "/w/it's.yaml", down_after: 15 });
const job = { id: "gradus-a", folder: "~/runs/a b", resume: true, env: { TOKEN: "a'b" } };

describe("jobs of SkyPilot", () => {
  it("brings the cluster up once, and it goes by itself", async () => {
    write("status", "[]");
    write("queue", '{"box": []}');
    assert.equal((await runner.state(job)).kind, "gone");
    await runner.ready!();
    assert.equal(
      calls().at(-1),
      "[launch][--cluster][box][--yes][--detach-run][--idle-minutes-to-autostop][15][--down][/w/it's.yaml]",
    );
    await runner.ready!();
    assert.equal(calls().at(-1), "[status][box][--output][json]");
  });

  it("starts one job of an id, and cancels it by its number", async () => {
    write("queue", 'A new version of SkyPilot is available.\n{"box": []}');
    assert.equal((await runner.state(job)).kind, "absent");
    await runner.start(job);
    assert.equal(
      calls().at(-1),
      `[exec][box][--detach-run][--name][gradus-a][--env][TOKEN=a'b][--][cd "$HOME"'/runs/a b' && exec sh launch.sh --resume >> log.txt 2>&1]`,
    );
    await runner.start(job);
    assert.equal(calls().at(-1), "[queue][box][--output][json]");
    await runner.stop(job);
    assert.equal(calls().at(-1), "[cancel][box][--yes][7]");
  });

  it("tells the states of a job from one another", async () => {
    const states: [string, JobState][] = [
      ["SETTING_UP", { kind: "waiting", why: "setting_up" }],
      ["RUNNING", { kind: "running" }],
      ["SUCCEEDED", { kind: "ended", code: 0, message: "" }],
      ["FAILED", { kind: "ended", code: 1, message: "" }],
      ["CANCELLED", { kind: "ended", code: null, message: "cancelled" }],
      ["FAILED_DRIVER", { kind: "gone", message: "SkyPilot: FAILED_DRIVER" }],
    ];
    for (const [status, wanted] of states) {
      write("queue", JSON.stringify({ box: [{ job_id: 7, job_name: job.id, status }] }));
      assert.deepEqual(await runner.state(job), wanted);
    }
  });

  it("says what SkyPilot could not do", async () => {
    write("status", "[]");
    write("no", "");
    await assert.rejects(
      runner.ready!(),
      /sky launch failed: ResourcesUnavailableError: no H100 in any region/,
    );
  });
});
