/** The walls around processes that run programs of models: what stands behind Node's own permissions, and tools that build one. */
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { UserError } from "../../../shared/lib/errors.ts";
import { Namespaces } from "../../../server/lib/sandbox/wall/namespaces.ts";
import { wallOf } from "../../../server/lib/sandbox/wall/wall.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "gradus-wall-")));
after(() => rmSync(folder, { recursive: true, force: true }));
const node = realpathSync(process.execPath);
const namespaces = await Namespaces.of(node);
const skip = namespaces === undefined && "this machine gives no namespaces";

/** What a program of Node without any other wall prints there, as JSON. */
async function seen(code: string, visible: readonly string[] = []): Promise<unknown> {
  assert.ok(namespaces);
  const [file = "", ...args] = namespaces.around([node, "-e", code], visible);
  const { stdout } = await promisify(execFile)(file, args, { env: {} });
  return JSON.parse(stdout);
}

test(
  "nothing is there but the program, its libraries and what it is to see, and none of it can be changed",
  { skip },
  async () => {
    const file = join(folder, "seen.txt");
    writeFileSync(file, "seen");
    const hidden = join(folder, "hidden.txt");
    writeFileSync(hidden, "hidden");
    const found = await seen(
      `const fs = require("fs");
const tried = (act) => { try { return act(); } catch (error) { return error.code; } };
console.log(JSON.stringify({
  own: tried(() => fs.readFileSync(${JSON.stringify(file)}, "utf8")),
  other: tried(() => fs.readFileSync(${JSON.stringify(hidden)}, "utf8")),
  changed: tried(() => fs.writeFileSync(${JSON.stringify(file)}, "changed")),
  made: tried(() => fs.writeFileSync("/made", "")),
  users: tried(() => fs.readFileSync("/etc/passwd", "utf8")),
  processes: tried(() => fs.readdirSync("/proc")),
  old: tried(() => fs.readdirSync("/old")),
  shell: tried(() => require("child_process").execFileSync("/bin/sh", ["-c", "id"])),
  mount: tried(() => require("child_process").execFileSync("/bin/mount", [])),
}));`,
      [file],
    );
    assert.deepEqual(found, {
      own: "seen",
      other: "ENOENT",
      changed: "EROFS",
      made: "EROFS",
      users: "ENOENT",
      processes: [],
      old: [],
      shell: "ENOENT",
      mount: "ENOENT",
    });
    assert.equal(readFileSync(file, "utf8"), "seen");
  },
);

test("there is no network, not even to a port of this machine", { skip }, async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((open) => server.once("listening", open));
  const { port } = server.address() as { port: number };
  const found = await seen(
    `require("net").connect(${port}, "127.0.0.1").on("connect", () => console.log('"open"')).on("error", (error) => console.log(JSON.stringify(error.code)));`,
  );
  server.close();
  assert.ok(["ENETUNREACH", "ECONNREFUSED"].includes(String(found)), String(found));
});

test(
  "no other process is there to be ended, and no right is left to make or enter anything",
  { skip },
  async () => {
    const found = await seen(
      `const tried = (act) => { try { act(); return "done"; } catch (error) { return error.code; } };
console.log(JSON.stringify([tried(() => process.kill(${process.pid}, 0)), tried(() => process.setgroups([1])), process.ppid]));`,
    );
    assert.deepEqual(found, ["ESRCH", "EPERM", 1]);
  },
);

test("what is chosen says which walls stand", async () => {
  const { names } = await wallOf("auto");
  assert.deepEqual(names, ["process", "permissions", ...(namespaces === undefined ? [] : ["namespaces"])]);
});

test(
  "a sandbox that is required is refused without namespaces, and a tool that is not there is named",
  { skip },
  async () => {
    await wallOf("required");
    const empty = mkdtempSync(join(folder, "path-"));
    const before = process.env["PATH"];
    process.env["PATH"] = empty;
    try {
      assert.equal(await Namespaces.of(node), undefined);
      await assert.rejects(
        wallOf({ by: "podman" }),
        (error) => error instanceof UserError && /podman/.test(error.message),
      );
    } finally {
      process.env["PATH"] = before;
    }
  },
);

for (const by of ["docker", "podman", "bwrap"] as const)
  test(`${by} is told to leave nothing but what is seen, and starts the program`, async () => {
    const bin = mkdtempSync(join(folder, "bin-"));
    const told = join(bin, "told.txt");
    // Records what it is told, and starts the program as the last arguments name it.
    writeFileSync(
      join(bin, by),
      `#!/bin/sh\n[ "$1" = --version ] && exit 0\nprintf '%s\\n' "$@" > ${told}\nwhile [ "$1" != "--eval" ]; do shift; done\nexec ${node} "$@"\n`,
    );
    chmodSync(join(bin, by), 0o755);
    const before = process.env["PATH"];
    process.env["PATH"] = `${bin}${delimiter}${before ?? ""}`;
    try {
      const wall = await wallOf({ by });
      assert.deepEqual(wall.names, ["process", "permissions", by]);
      const { file, args } = wall.command([node, "--eval", "console.log(6 * 7)"], [folder]);
      assert.equal(execFileSync(file, args, { encoding: "utf8" }).trim(), "42");
      const words = readFileSync(told, "utf8").split("\n");
      const wanted =
        by === "bwrap"
          ? ["--unshare-all", "--die-with-parent", "--clearenv", "--ro-bind", folder]
          : [
              "--network",
              "none",
              "--read-only",
              "--cap-drop",
              "ALL",
              `${folder}:${folder}:ro`,
              "no-new-privileges",
            ];
      for (const word of wanted) assert.ok(words.includes(word), word);
    } finally {
      process.env["PATH"] = before;
    }
  });
