/** A folder of another machine, followed and imported: by a real daemon and its worker, with a program in the place of ssh. */
import assert from "node:assert/strict";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { MessageConnection } from "vscode-jsonrpc/node";
import { ask } from "../../../shared/daemon/request.ts";
import {
  eventsQuery,
  metricsSeries,
  rolloutsQuery,
  runsControl,
  runsImport,
  runsShow,
} from "../../../shared/protocol/protocol.ts";
import { sshVariable } from "../../../server/sites/ssh.ts";
import { gradus } from "../../support/cli.ts";
import { Sandbox, until } from "../daemon.ts";

describe("a daemon that follows a folder of another machine", () => {
  let box: Sandbox;
  let connection: MessageConnection;
  let project = "";
  let out = "";
  let down = "";
  let command = "";
  before(async () => {
    box = await Sandbox.make();
    project = dirname(box.file);
    connection = await box.connect({ environment: { GRADUS_IDLE_MS: "60000" } });
    [out, down] = [join(box.base, "there", "out"), join(box.base, "down")];
    mkdirSync(out, { recursive: true });
    command = join(box.base, "ssh.sh");
    // The last word is what a host would run.
    writeFileSync(
      command,
      `#!/bin/sh\nif [ -e '${down}' ]; then echo "ssh: connect to host box port 22: Connection refused" >&2; exit 255; fi\nfor last; do :; done\ncd; eval "$last"\n`,
    );
    chmodSync(command, 0o755);
    process.env[sshVariable] = command;
  });
  after(async () => {
    process.env[sshVariable] = "";
    await box.end();
  });
  const soon = (is: () => Promise<boolean>, what: string) =>
    until(async () => ((await is()) ? true : null), what);
  const shown = (run: string) => ask(connection, runsShow, { run });
  const steps = async (run: string) => {
    const { series } = await ask(connection, metricsSeries, {
      run,
      metrics: ["reward/total"],
      maxPoints: 100,
    });
    return [...(series[0]?.steps ?? [])];
  };
  const messages = async (run: string) =>
    (await ask(connection, eventsQuery, { run, limit: 100 })).events.map(({ message }) => message);
  const site = () => ({ name: "box", from: project, env: { GRADUS_SSH: command } });
  const write = (step: number): void => {
    appendFileSync(
      join(out, "rollouts-box-7-1790000000000.jsonl"),
      [0, 1]
        .map(
          (index) =>
            `${JSON.stringify({ step, time: 1_790_000_000 + step, group: "a", index, call: step, prompt: "p", response: "r", rewards: { right: index } })}\n`,
        )
        .join(""),
    );
    appendFileSync(
      join(out, "metrics-box-1790000000000.jsonl"),
      `${JSON.stringify({ step, time: 1_790_000_000 + step, data: { reward: step } })}\n`,
    );
  };

  it("refuses what is not there, and what cannot be reached", async () => {
    const none = join(box.base, "none");
    await assert.rejects(ask(connection, runsImport, { folder: none, site: site() }), {
      message: `There is no folder box:${none}.`,
    });
    await assert.rejects(ask(connection, runsImport, { folder: out, site: site() }), /nothing to import/);
    writeFileSync(down, "");
    await assert.rejects(
      ask(connection, runsImport, { folder: out, site: site() }),
      /^UserError: box does not answer: connect to host/,
    );
    rmSync(down);
  });

  it("says once that it does not answer, goes on, and says what it has caught up with", async () => {
    write(1);
    write(2);
    const { run, folder } = await ask(connection, runsImport, { folder: out, config: null, site: site() });
    await soon(async () => (await steps(run)).length === 2, "two steps");
    const { origin, status, name } = await shown(run);
    assert.deepEqual([status, name, origin?.site], ["running", "out", { site: "box", folder: out }]);
    assert.equal(origin?.folder, join(folder, "mirror", "out"));
    writeFileSync(down, "");
    await soon(async () => (await messages(run)).length > 0, "the event");
    for (const step of [3, 4, 5]) write(step);
    rmSync(down);
    await soon(async () => (await messages(run)).length > 1, "the second event");
    assert.deepEqual(await messages(run), [
      "box does not answer: connect to host box port 22: Connection refused; trying again",
      "box answers again: caught up 3 steps, no gap",
    ]);
    assert.deepEqual(await steps(run), [1, 2, 3, 4, 5]);
    assert.equal((await ask(connection, rolloutsQuery, { run, step: 5, limit: 10 })).rollouts.length, 2);
    const list = await gradus(["runs", "list"], project);
    assert.match(list.stdout, new RegExp(`followed from box:${out}`));
    // Also while nothing answers.
    writeFileSync(down, "");
    await soon(async () => (await messages(run)).length > 2, "the third event");
    await ask(connection, runsControl, { run, action: "stop" });
    await soon(async () => (await shown(run)).status === "stopped", "the end");
    assert.equal((await shown(run)).origin?.rollouts, 10);
    rmSync(down);
  });

  it("imports it once, as a run that holds the files", async () => {
    const there = join(box.base, "there", "verl");
    cpSync("test/fixtures/imported/verl", there, { recursive: true });
    const local = JSON.parse(
      (await gradus(["runs", "import", there, "--no-config", "--json"], project)).stdout,
    );
    const { code, stdout, stderr } = await gradus(
      ["runs", "import", `box:${there}`, "--no-config", "--json"],
      project,
    );
    assert.equal(code, 0, stderr);
    const remote = JSON.parse(stdout);
    const { run, folder, seconds: _, ...rest } = remote;
    assert.deepEqual(rest, {
      ...Object.fromEntries(
        Object.entries(local).filter(([key]) => !["run", "folder", "seconds"].includes(key)),
      ),
      copied: true,
      site: { site: "box", folder: there },
    });
    assert.ok(existsSync(join(folder, "rollouts", "1.jsonl")));
    rmSync(there, { recursive: true });
    const rows = async (id: string) =>
      (await ask(connection, rolloutsQuery, { run: id, step: 2, limit: 100 })).rollouts.map(
        ({ response }) => response,
      );
    assert.equal((await rows(run)).length, 16);
    assert.equal(JSON.parse(readFileSync(join(box.folder(run), "run.json"), "utf8")).imported, folder);
    const again = await gradus(["runs", "import", `box:${there}`], project);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /There is no folder box:/);
  });

  it("goes by the script that lies in the folder, or one that is named there", async () => {
    const there = join(box.base, "there", "gsm");
    cpSync("test/fixtures/projects/gsm", there, { recursive: true });
    cpSync("test/fixtures/imported/verl", join(there, "out"), { recursive: true });
    const told = async (...words: string[]) => {
      const { code, stdout, stderr } = await gradus(["runs", "import", ...words, "--json"], project);
      assert.equal(code, 0, stderr);
      const { config, foundConfig, advantages } = JSON.parse(stdout);
      return [config, foundConfig, advantages];
    };
    const script = `box:${there}/run.sh`;
    assert.deepEqual(await told(`box:${there}`), [script, true, "grpo"]);
    assert.deepEqual(await told(`box:${there}/out`, "--config", script), [script, false, "grpo"]);
    const { run } = await ask(connection, runsImport, {
      folder: join(there, "out"),
      config: script,
      site: site(),
    });
    await soon(async () => (await steps(run)).length > 3, "its steps");
    const { origin, file, folder, authored } = await shown(run);
    assert.deepEqual([origin?.advantages, file], ["grpo", join(folder, "mirror", ".config", "run.sh")]);
    assert.match(authored, /^tasks:/m);
    await ask(connection, runsControl, { run, action: "stop" });
    await soon(async () => (await shown(run)).status === "stopped", "the end");
    await assert.rejects(
      ask(connection, runsImport, { folder: join(there, "out"), config: "box:none.sh", site: site() }),
      /^UserError: box:none.sh cannot be read: No such file or directory/,
    );
  });
});
