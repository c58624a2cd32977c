/** The hooks of .pre-commit-hooks.yaml, run by pre-commit out of a clone, as another repository uses them. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { parse } from "yaml";
import { z } from "zod";
import { builtCli } from "../support/cli.ts";
import { preCommit } from "../support/tools.ts";

const tool = preCommit();
const hooks = z
  .array(z.object({ id: z.string(), entry: z.string(), language: z.string() }))
  .parse(parse(readFileSync(".pre-commit-hooks.yaml", "utf8")));

let base = "";
const git = (cwd: string, ...words: string[]): string =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false", ...words], {
    cwd,
    encoding: "utf8",
  }).trim();

/** The sources among the files of a package, by the list that its own test keeps. */
const shipped = (): string[] =>
  readFileSync("test/fixtures/package/files.txt", "utf8")
    .trim()
    .split("\n")
    .filter((name) => existsSync(name));

/** What a release holds: set-up, which a checkout of the sources would need, has been done for it. */
async function release(folder: string): Promise<string> {
  const cli = await builtCli();
  cpSync(dirname(cli), join(folder, "dist"), { recursive: true });
  for (const name of [...shipped(), "presets", "papers", "dist/docs", ".pre-commit-hooks.yaml"])
    cpSync(name, join(folder, name), { recursive: true });
  git(folder, "init", "-q");
  git(folder, "add", "-A");
  git(folder, "commit", "-qm", "release");
  return git(folder, "rev-parse", "HEAD");
}

const files: Readonly<Record<string, string>> = {
  "good.gradus.yaml": "tasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\n",
  "bad.gradus.yaml": "tasks: [{ env: countdwn }]\nreward: { terms: { correct: equation } }\n",
  "train.sh": "python3 -m verl.trainer.main_ppo \\\n  actor_rollout_ref.actor.ppo_mini_batch_sze=64\n",
  "compose.yaml": "services: {}\n",
};

before(async () => {
  base = mkdtempSync(join(tmpdir(), "gradus-hook-"));
  for (const name of ["release", "work", "cache"]) mkdirSync(join(base, name));
  const rev = await release(join(base, "release"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(base, "work", name), text);
  writeFileSync(
    join(base, "work", ".pre-commit-config.yaml"),
    JSON.stringify({ repos: [{ repo: join(base, "release"), rev, hooks: hooks.map(({ id }) => ({ id })) }] }),
  );
  git(join(base, "work"), "init", "-q");
  git(join(base, "work"), "add", "-A");
});
after(() => rmSync(base, { recursive: true, force: true }));

/** `pre-commit run HOOK --files …` in the repository that uses the hooks; without it, the hook's own command. */
function run(hook: string, ...names: string[]): { status: number | null; output: string } {
  const { command, words, env } = commandOf(hook, names);
  const { status, stdout, stderr } = spawnSync(command, words, {
    cwd: join(base, "work"),
    encoding: "utf8",
    env: { ...process.env, GRADUS_DATA: join(base, "data"), PRE_COMMIT_HOME: join(base, "cache"), ...env },
  });
  return { status, output: stdout + stderr };
}

function commandOf(
  hook: string,
  names: readonly string[],
): { command: string; words: string[]; env: object } {
  if ("skip" in tool) {
    const [entry = "", ...rest] = (hooks.find(({ id }) => id === hook)?.entry ?? "").split(" ");
    return { command: join(base, "release", entry), words: [...rest, ...names], env: {} };
  }
  const [command, ...before] = tool.command;
  return { command, words: [...before, "run", hook, "--files", ...names], env: tool.env };
}

describe(`the hooks of pre-commit${"skip" in tool ? `, run by their commands alone: ${tool.skip}` : ""}`, () => {
  it("are scripts of the clone: no environment is built for them", () => {
    assert.deepEqual(
      hooks.map(({ language }) => language),
      ["script", "script"],
    );
  });

  it("let a good config pass", () => {
    const { status, output } = run("gradus-validate", "good.gradus.yaml");
    assert.equal(status, 0, output);
  });

  it("stop at a wrong one, with its place and what to do", () => {
    const { status, output } = run("gradus-validate", "good.gradus.yaml", "bad.gradus.yaml");
    assert.equal(status, 1, output);
    assert.match(output, /bad\.gradus\.yaml:1:16: error: .*Did you mean `countdown`\?/);
  });

  it("check the other frameworks' files, and pass over what is no configuration", () => {
    const { status, output } = run("gradus-validate-all", ...Object.keys(files));
    assert.equal(status, 1, output);
    assert.match(output, /^train\.sh:2:\d+: error: .*ppo_mini_batch_sze/m);
    assert.doesNotMatch(output, /compose/);
    assert.equal(run("gradus-validate-all", "compose.yaml").status, 0);
  });
});
