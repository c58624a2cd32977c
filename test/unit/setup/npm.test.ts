/** Which npm set-up runs: as JavaScript where a system has it as no program. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

type Environment = Readonly<Record<string, string>>;
interface System {
  readonly platform: NodeJS.Platform;
  readonly execPath: string;
  readonly env: Environment;
}
interface ProcessModule {
  npmOf(system: System, exists: (file: string) => boolean): [string, string[]] | undefined;
  withOwnNode(env: Environment, system: Omit<System, "env">): Environment;
}
const { npmOf, withOwnNode }: ProcessModule = await import(
  pathToFileURL(join(process.cwd(), "scripts", "setup", "process.mjs")).href
);

const cli = "node_modules/npm/bin/npm-cli.js";
const on = (system: Partial<System>, ...files: string[]): [string, string[]] | undefined =>
  npmOf({ platform: "linux", execPath: "/n/bin/node", env: {}, ...system }, (file) =>
    files.includes(file.replaceAll("\\", "/")),
  );
const windows = (env: Environment): Partial<System> => ({ platform: "win32", execPath: "/n/node.exe", env });

test("npm is the one that runs this, else the one next to this Node, else that of the PATH", () => {
  const own = `/n/lib/${cli}`;
  assert.deepEqual(on({}, own), ["/n/bin/node", [own]]);
  assert.deepEqual(on(windows({}), `/n/${cli}`), ["/n/node.exe", [`/n/${cli}`]]);
  const running = "/other/npm/bin/npm-cli.js";
  assert.deepEqual(on({ env: { npm_execpath: running } }, own, running), ["/n/bin/node", [running]]);
  assert.deepEqual(on({ env: { npm_execpath: "/x/pnpm.cjs" } }, own, "/x/pnpm.cjs")?.[1], [own]);
  for (const platform of ["linux", "darwin"] as const)
    assert.deepEqual(on({ platform, env: { PATH: "/a:/b" } }, "/b/npm"), ["/b/npm", []]);
});

test("on Windows no script of a shell is started: its npm lies next to it, or there is none", () => {
  const folder = "/Users/a/npm";
  const npm = on(windows({ Path: `/w;${folder}` }), `${folder}/npm`, `${folder}/npm.cmd`, `${folder}/${cli}`);
  assert.deepEqual(npm?.map(String), ["/n/node.exe", `${folder}/${cli}`]);
  assert.equal(on(windows({ Path: folder }), `${folder}/npm`, `${folder}/npm.cmd`), undefined);
  assert.equal(on({ env: { PATH: "/a" } }), undefined);
});

test("scripts of packages find this Node, and Windows keeps its one Path", () => {
  const node = { platform: "win32", execPath: "/n/node.exe" } as const;
  assert.deepEqual(withOwnNode({ Path: "/w" }, node), { Path: "/w;/n" });
  assert.deepEqual(withOwnNode({ Path: "/w;/n" }, node), { Path: "/w;/n" });
  const unix = { platform: "darwin", execPath: "/n/bin/node" } as const;
  assert.deepEqual(withOwnNode({ PATH: "/a" }, unix), { PATH: "/a:/n/bin" });
});
