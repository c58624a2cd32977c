/** `gradus lsp --stdio` under Neovim's own client, set up as docs/editors.md says. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { z } from "zod";
import { builtCli } from "../support/cli.ts";
import { neovim } from "../support/tools.ts";
import { patience } from "../support/until.ts";

const tool = neovim();
const skip = "skip" in tool ? tool.skip : false;

/** The documentation's settings, so that they are tried as well. */
function documented(): string {
  const section = readFileSync("docs/editors.md", "utf8")
    .split(/^## /m)
    .find((text) => text.startsWith("Neovim"));
  const block = /```lua\n([^]*?)```/.exec(section ?? "")?.[1];
  assert.ok(block, "docs/editors.md tells Neovim's settings");
  return block;
}

const finding = z.object({
  line: z.number(),
  character: z.number(),
  rule: z.string(),
  message: z.string(),
  source: z.string(),
});
const toldSchema = z.object({
  filetype: z.string(),
  diagnostics: z.array(finding),
  completion: z.array(z.string()),
  hover: z.string(),
  mended: z.array(z.string()),
  launch: z.array(finding),
});

let folder = "";
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "gradus-nvim-"));
  mkdirSync(join(folder, "bin"));
  mkdirSync(join(folder, "work"));
  const program = join(folder, "bin", "gradus");
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${await builtCli()}" "$@"\n`);
  chmodSync(program, 0o755);
  writeFileSync(join(folder, "init.lua"), documented());
  writeFileSync(
    join(folder, "work", "broken.gradus.yaml"),
    "tasks: [{ env: countdwn }]\nreward: { terms: { correct: equation } }\n",
  );
  writeFileSync(
    join(folder, "work", "launch.sh"),
    "python3 -m verl.trainer.main_ppo \\\n  actor_rollout_ref.actor.ppo_mini_batch_sze=64\n",
  );
});
after(() => rmSync(folder, { recursive: true, force: true }));

async function session(command: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const words = ["--headless", "-u", join(folder, "init.lua"), "-i", "NONE", "-n"];
  const script = resolve("test/fixtures/neovim/session.lua");
  const child = spawn(command, [...words, "-c", `luafile ${script}`], {
    cwd: join(folder, "work"),
    env: {
      ...process.env,
      PATH: `${join(folder, "bin")}${delimiter}${process.env["PATH"] ?? ""}`,
      XDG_CONFIG_HOME: join(folder, "config"),
      XDG_DATA_HOME: join(folder, "data"),
      XDG_STATE_HOME: join(folder, "state"),
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: patience,
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const code = await new Promise<number | null>((done) => child.on("close", done));
  return { code, stdout, stderr };
}

describe("Neovim", { skip }, () => {
  it("shows what is wrong, completes, explains, fixes, and reads a launch script", async () => {
    if ("skip" in tool) return;
    const { code, stdout, stderr } = await session(tool.command[0]);
    assert.equal(code, 0, `${stdout}\n${stderr}`);
    const told = toldSchema.parse(JSON.parse(stdout));
    assert.equal(told.filetype, "yaml.gradus");
    assert.deepEqual(
      told.diagnostics.map(({ line, character, rule, source }) => ({ line, character, rule, source })),
      [{ line: 0, character: 15, rule: "unknown-value", source: "gradus" }],
    );
    assert.ok(told.completion.includes("countdown"), told.completion.join(", "));
    assert.match(told.hover, /reward/i);
    assert.deepEqual(told.mended, [
      "tasks: [{ env: countdown }]",
      "reward: { terms: { correct: equation } }",
    ]);
    assert.ok(told.launch.some(({ line, rule }) => line === 1 && rule === "foreign-unknown-key"));
  });
});
