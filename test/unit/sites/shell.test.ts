/** The shell of this machine, and what is made of a connection that fails. */
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { isRunning } from "../../../shared/daemon/process.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { here } from "../../../server/sites/here.ts";
import { shellWord } from "../../../server/sites/shell.ts";
import { ssh, sshVariable } from "../../../server/sites/ssh.ts";
import { until } from "../../support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-shell-"));
const before = process.env[sshVariable];
after(() => {
  rmSync(folder, { recursive: true, force: true });
  process.env[sshVariable] = before ?? "";
});

describe("the shell of this machine", () => {
  const shell = here();

  it("runs a script in the home folder, with its input, and gives its output byte by byte", async () => {
    const input = Buffer.from([0, 255, 10, 0]);
    const { code, stdout, stderr } = await shell.run(`pwd; cat; echo oops >&2; exit 3`, { input });
    assert.equal(code, 3);
    assert.deepEqual(stdout, Buffer.concat([Buffer.from(`${homedir()}\n`), input]));
    assert.equal(stderr, "oops\n");
  });

  it("gives the script's own code, 255 and that of a signal too", async () => {
    assert.equal((await shell.run("exit 255")).code, 255);
    assert.equal((await shell.run("kill -9 $(sh -c 'echo $PPID')")).code, 137);
    assert.equal((await shell.run("if then")).code, 2);
  });

  it("takes a script that no command line could hold", async () => {
    const script = `: ${"x".repeat(200_000)}\nprintf %s done`;
    assert.equal((await shell.run(script)).stdout.toString(), "done");
  });

  it("ends a script that takes too long, with what it started", async () => {
    const file = join(folder, "pid");
    await assert.rejects(
      shell.run(`sleep 30 & echo $! > ${shellWord(file)}; sleep 30`, { seconds: 0.3 }),
      (error) => error instanceof UserError && error.detail.code === "site-unreachable",
    );
    const pid = Number(readFileSync(file, "utf8"));
    assert.ok(pid > 0);
    await until(() => !isRunning(pid), "what it started to end");
  });

  it("is given up when its signal says so", async () => {
    const stop = new AbortController();
    const run = shell.run("sleep 30", { signal: stop.signal });
    stop.abort();
    await assert.rejects(run, { name: "AbortError" });
  });

  it("takes any text as a word", async () => {
    const text = `a 'b' "c" $HOME \`d\` \\ \n*`;
    assert.equal((await shell.run(`printf %s ${shellWord(text)}`)).stdout.toString(), text);
    assert.equal((await shell.run(`printf %s ${shellWord("~/x y")}`)).stdout.toString(), `${homedir()}/x y`);
  });
});

describe("a host of ssh", () => {
  /** A program in the place of ssh. */
  const program = (text: string): void => {
    const file = join(folder, "ssh.sh");
    writeFileSync(file, `#!/bin/sh\n${text}\n`);
    chmodSync(file, 0o755);
    process.env[sshVariable] = `${file} -F none`;
  };
  const failure = async (): Promise<UserError["detail"] & { readonly message: string }> => {
    try {
      await ssh({ host: "box" }).run("true");
    } catch (error) {
      assert.ok(error instanceof UserError);
      return { ...error.detail, message: error.message };
    }
    throw new assert.AssertionError({ message: "it ran" });
  };

  it("is asked without a question, by the program that is named, and what a profile prints is no answer", async () => {
    program(`echo "$@" >&2; echo "welcome to box"; for last; do :; done; eval "$last"`);
    const { stdout, stderr, code } = await ssh({ host: "box", port: 2222 }).run("echo 1; exit 255");
    assert.equal(stdout.toString(), "1\n");
    assert.equal(code, 255);
    assert.match(stderr, /^-F none -T -o BatchMode=yes .*ControlPath=\S{1,86} -p 2222 -- box exec sh -c/);
  });

  it("does not answer where ssh says so, with the reason and what to do", async () => {
    program(`echo "ssh: connect to host box port 22: Connection refused" >&2; exit 255`);
    assert.deepEqual(await failure(), {
      message: "box does not answer: connect to host box port 22: Connection refused.",
      code: "site-unreachable",
      action:
        "Check that the machine is up and that this one is online. `ssh box` in a terminal must connect without a question.",
    });
    program(`echo "Host key verification failed." >&2; exit 255`);
    assert.match((await failure()).action ?? "", /host key/);
    program(`echo "me@box: Permission denied (publickey)." >&2; exit 255`);
    assert.match((await failure()).action ?? "", /ssh-add/);
  });

  it("does not answer where the connection breaks within the script", async () => {
    program(
      `for last; do :; done; (eval "$last") | head -c 40; echo "client_loop: send disconnect: Broken pipe" >&2; exit 255`,
    );
    assert.equal((await failure()).message, "box does not answer: the connection was lost.");
  });

  it("is no site where it runs another program than sh", async () => {
    program(`echo "This service allows sftp connections only." >&2; exit 1`);
    assert.equal((await failure()).code, "site-no-shell");
  });
});
