/** The skill for coding agents: where it is written, that agents can read it, and that what it names is there. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Command as Program } from "commander";
import { parse } from "yaml";
import { command as explain } from "../../../server/cli/explain.ts";
import { command as reward } from "../../../server/cli/reward/index.ts";
import { command as rollouts } from "../../../server/cli/rollouts.ts";
import { command as run } from "../../../server/cli/run.ts";
import { command as runs } from "../../../server/cli/runs/runs.ts";
import summaries from "../../../server/cli/summaries.json" with { type: "json" };
import { agentSkill } from "../../../server/cli/text/agentSkill.ts";
import { command as validate } from "../../../server/cli/validate/index.ts";
import { gradus } from "../../support/cli.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-skill-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("init --agent writes one file where agents look for it, and overwrites none", async () => {
  const written = await gradus(["init", "plain", "--agent", "--json"], folder);
  const file = "plain/.agents/skills/gradus/SKILL.md";
  assert.deepEqual([written.code, JSON.parse(written.stdout)], [0, { files: [file] }]);
  assert.deepEqual(readdirSync(join(folder, "plain")), [".agents"]);
  assert.equal(readFileSync(join(folder, file), "utf8"), agentSkill);
  writeFileSync(join(folder, file), "mine\n");
  const again = await gradus(["init", "plain", "--agent"], folder);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /nothing is overwritten \[exists\]\n {2}Delete it first/);
  assert.equal(readFileSync(join(folder, file), "utf8"), "mine\n");
  mkdirSync(join(folder, "claudes", ".claude"), { recursive: true });
  const { stdout } = await gradus(["init", "claudes", "--agent"], folder);
  assert.match(stdout, /^wrote claudes\/\.claude\/skills\/gradus\/SKILL\.md\n\nNext: .*`gradus`.*`mcp`/);
  assert.equal((await gradus(["init", "--agent", "--from", "dapo"], folder)).code, 2);
});

test("it is a skill as the specification wants it", () => {
  const [, head, body] = /^---\n(.*?)\n---\n(.*)$/s.exec(agentSkill)!;
  const { name, description, ...rest } = parse(head!);
  assert.equal(name, "gradus");
  assert.ok(description.length > 0 && description.length <= 1024);
  assert.deepEqual(rest, {});
  assert.ok(body!.split("\n").length < 500);
});

test("every command of it is there, with its options", async () => {
  const known: Readonly<Record<string, Pick<typeof run, "configure">>> = {
    explain,
    reward,
    rollouts,
    run,
    runs,
    validate,
  };
  const lines = [...agentSkill.matchAll(/`gradus ([^`]+)`/g)].map(([, line]) => line!.split(" "));
  assert.ok(lines.length > 12);
  for (const [name, ...words] of lines) {
    assert.ok(name! in summaries, `gradus ${name}`);
    const program = new Program(name!);
    await known[name!]?.configure(program, words);
    const own = program.commands.find((sub) => sub.name() === words[0]) ?? program;
    if (name === "runs") assert.notEqual(own, program, words[0]);
    for (const option of words.filter((word) => word.startsWith("--")))
      assert.ok(
        own.options.some(({ long }) => long === option),
        `gradus ${name} ${words.join(" ")}: there is no ${option}`,
      );
  }
});
