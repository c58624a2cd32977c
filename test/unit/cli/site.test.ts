/** `gradus run --site SITE --dry-run`: the project is written, the site is asked, nothing is started. */
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { gradus } from "../../support/cli.ts";
import { temporary } from "../support.ts";

const config = `extends: grpo
name: gsm
engine: { use: trl }
model: { base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 64 }
tasks: [{ env: countdown, numbers: [2] }]
rollout: { prompts: 4, group: 4, max_tokens: 8 }
reward: { terms: { correct: { use: equation } } }
steps: 10
`;

/** A Python that has TRL's metadata, and a driver with two cards. */
function workspace(more = ""): string {
  const folder = temporary();
  writeFileSync(join(folder, "gsm.gradus.yaml"), config);
  const info = join(folder, "packages", "trl-1.16.0.dist-info");
  mkdirSync(info, { recursive: true });
  writeFileSync(join(info, "METADATA"), "Metadata-Version: 2.1\nName: trl\nVersion: 1.16.0\n");
  mkdirSync(join(folder, "bin"));
  const program = (name: string, text: string): void => {
    writeFileSync(join(folder, "bin", name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, "bin", name), 0o755);
  };
  program("python", `PATH='${folder}/bin':"$PATH" PYTHONPATH='${folder}/packages' exec python3 "$@"`);
  program(
    "nvidia-smi",
    `case "$1" in *gpu=*) printf '0, a, NVIDIA L4, 23034, 4, 0\\n1, b, NVIDIA L4, 23034, 20000, 99\\n' ;; esac`,
  );
  mkdirSync(join(folder, "sites"));
  writeFileSync(
    join(folder, "sites", "lab.yaml"),
    `kind: here\nfolder: ${folder}/far\npython: ${folder}/bin/python\nprice: { gpu_hour: 2 }\n${more}`,
  );
  return folder;
}

const dryRun = (folder: string, ...words: readonly string[]) =>
  gradus(["run", "gsm.gradus.yaml", "--site", "lab", "--dry-run", ...words], folder);

describe("gradus run --site --dry-run", () => {
  it("writes the project and says what the site has", async () => {
    const folder = workspace();
    const { code, stdout, stderr } = await dryRun(folder);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^\.gradus\/export\/gsm {2}\(TRL 1\.16\)\n {2}config\.yaml\n/);
    assert.match(stdout, /\n {2}ok +trl 1\.16\.0\n/);
    assert.match(stdout, /\n {2}ok +GPU 0, NVIDIA L4, 0\.0 GiB of 22\.5 GiB in use, 0 % busy\n/);
    assert.match(stdout, /\n {2}warning GPU 1, NVIDIA L4, .*is in use\n/);
    assert.match(
      stdout,
      /\ncost\n {2}10 steps, at most 1300 tokens\n {2}no step was measured on this site yet/,
    );
    assert.ok(existsSync(join(folder, ".gradus", "export", "gsm", "launch.sh")));
    assert.ok(!existsSync(join(folder, "far")));
  });

  it("ends with 1 where the pair cannot work, as a launch does before it starts anything", async () => {
    const folder = workspace("launch: accelerate launch --num_processes 4\n");
    const { code, stdout } = await dryRun(folder, "--json");
    const { findings, engine, cost } = JSON.parse(stdout);
    assert.deepEqual([code, engine, cost.steps, cost.seconds], [1, "trl", 10, null]);
    const errors = findings.filter(({ severity }: { severity: string }) => severity === "error");
    assert.deepEqual(
      errors.map(({ message }: { message: string }) => message),
      ["4 GPUs are asked for, and the site has 2"],
    );
    const launch = await gradus(["run", "gsm.gradus.yaml", "--site", "lab"], folder);
    assert.equal(launch.code, 1);
    assert.match(
      launch.stderr,
      /The run cannot start on lab: 4 GPUs are asked for, and the site has 2 \[site-pair\]/,
    );
    assert.ok(!existsSync(join(folder, ".gradus", "runs")));
  });

  it("names what is wrong with a site, and what no site can train", async () => {
    const folder = workspace("pyhton: python3\n");
    const { code, stderr } = await dryRun(folder);
    assert.equal(code, 1);
    assert.match(stderr, /lab\.yaml:5:1: error: .*pyhton.*python/s);
    const own = await dryRun(workspace(), "--set", "engine.use=embedded");
    assert.match(own.stderr, /error: This config trains in the engine of Gradus.*\[site-embedded\]/);
  });
});
