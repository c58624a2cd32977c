/**
 * What a person gets from the packaged extension alone: it is installed into an empty editor, with no checkout beside
 * it, and a run finishes. What was built for this user before (engine, SQLite) is taken from their data folder; the
 * native packages are installed anew.
 */
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { dataFolder } from "../../server/natives.ts";
import { runCommand, startWorkbench, until, withoutWorkbench, type Workbench } from "../support/workbench.ts";

const run = promisify(execFile);
const config = `name: installed
model: { base: tiny }
tasks: [{ env: arithmetic }]
rollout: { prompts: 4, group: 4, max_tokens: 8 }
reward: { terms: { correct: { use: exact_match, weight: 1 } } }
stages:
  - { name: warm-up, kind: sft, steps: 4 }
  - { name: practise, kind: rl, steps: 2 }
evaluation: { every: 2, prompts: 8, pass_at: [1] }
seed: 1
`;

let home: string;
let vsix: string;
let workbench: Workbench | undefined;
const project = (): string => join(home, "project");
const data = (): string => join(home, "data");
/** Nothing of this checkout reaches what is installed. */
const env = (): Record<string, string> => ({
  GRADUS_DATA: data(),
  GRADUS_NATIVE_ROOT: "",
  XDG_RUNTIME_DIR: join(home, "runtime"),
});

before(async () => {
  home = mkdtempSync(join(tmpdir(), "gradus-i-"));
  mkdirSync(join(home, "runtime"), { mode: 0o700 });
  mkdirSync(data());
  for (const built of ["engine", "native", "node-headers"]) {
    const place = join(dataFolder(), built);
    if (existsSync(place)) symlinkSync(place, join(data(), built));
  }
  mkdirSync(project());
  writeFileSync(join(project(), "installed.gradus.yaml"), config);
  vsix = join(home, "gradus.vsix");
  await run(process.execPath, [join("scripts", "package.mjs"), "--out", vsix]);
});
after(async () => {
  try {
    // The daemon goes before its folders do.
    await stopDaemon();
  } finally {
    await workbench?.stop();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
});

const unpacked = (): string => {
  const folder = join(home, "unpacked");
  if (!existsSync(folder)) execFileSync("python3", ["-m", "zipfile", "-e", vsix, folder]);
  return join(folder, "extension");
};

const gradus = (...words: string[]) =>
  run(process.execPath, [join(unpacked(), "bin", "gradus"), ...words], {
    cwd: project(),
    env: { ...process.env, ...env() },
  });

async function stopDaemon(): Promise<void> {
  // `before` may have failed before there was anything to stop.
  if (!existsSync(vsix)) return;
  const { stdout } = await gradus("daemon", "stop");
  if (stdout !== "") console.log(stdout);
}

test("the unpacked extension sets itself up in a versioned data folder, with stdout pure", async () => {
  const { stdout, stderr } = await gradus("doctor", "--json");
  const { version }: { version: string } = JSON.parse(readFileSync("package.json", "utf8"));
  const report: { ok: boolean; checks: readonly { name: string; detail: string }[] } = JSON.parse(stdout);
  assert.equal(report.ok, true, stdout);
  assert.match(stderr, /installing native packages into/);
  assert.ok(existsSync(join(data(), "native-root", version, "node_modules", "better-sqlite3")));
  assert.equal(
    existsSync(join(unpacked(), "node_modules")),
    false,
    "the editor deletes this folder on update",
  );
});

test("the second start is quick", async () => {
  const { stderr } = await gradus("--version");
  assert.equal(stderr, "");
});

interface Contributed {
  readonly contributes: {
    readonly commands: readonly {
      readonly command: string;
      readonly title: string;
      readonly category?: string;
    }[];
  };
}
/** As the command palette shows it. */
function titleOf(id: string): string {
  const manifest: Contributed = JSON.parse(readFileSync("package.json", "utf8"));
  const texts: Readonly<Record<string, string>> = JSON.parse(readFileSync("package.nls.json", "utf8"));
  const text = (value: string): string =>
    /^%.*%$/.test(value) ? (texts[value.slice(1, -1)] ?? value) : value;
  const found = manifest.contributes.commands.find(({ command }) => command === id);
  assert.ok(found, `${id} is not contributed`);
  return found.category === undefined ? text(found.title) : `${text(found.category)}: ${text(found.title)}`;
}

/** The folders of the store's runs. */
function runFolders(): string[] {
  const runs = join(project(), ".gradus", "runs");
  return existsSync(runs) ? readdirSync(runs).map((id) => join(runs, id)) : [];
}

test(
  "installed into an empty editor, a run started from the palette finishes",
  { skip: withoutWorkbench(), timeout: 300_000 },
  async () => {
    workbench = await startWorkbench({ open: project(), inPlace: true, vsix, env: env(), theme: "light" });
    const { page } = workbench;
    await page.getByRole("treeitem", { name: "installed.gradus.yaml" }).dblclick();
    await page.locator(".monaco-editor .view-lines").first().waitFor();
    await runCommand(page, titleOf("gradus.run.start"));
    await until(() => runFolders().length > 0, "a run in the store", 120_000);
    const list = async (): Promise<boolean> => {
      const { stdout } = await gradus("runs", "list", "--json");
      assert.doesNotMatch(stdout, /"status":"(failed|crashed)"/);
      return stdout.includes('"status":"finished"');
    };
    try {
      await until(list, "the run to finish", 180_000);
    } finally {
      await workbench.screenshot("installed-extension");
    }
    assert.deepEqual(workbench.pageErrors, []);
  },
);
