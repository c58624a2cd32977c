/** Configurations of verl, TRL and OpenRLHF over a real connection. */
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { DidOpenTextDocumentNotification } from "vscode-languageserver-protocol/node";
import { applied, cursor, startServer, type LanguageServer } from "../support/lspServer.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-frameworks-lsp-"));
let server: LanguageServer;
before(async () => {
  server = await startServer();
});
after(async () => {
  assert.equal(await server.stop(), 0);
});

const script = (lines: string): string =>
  `#!/usr/bin/env bash\npython3 -m verl.trainer.main_ppo \\\n${lines}\n`;

/** Opens a text with the cursor at `|`, and asks what may stand there. */
async function offered(name: string, languageId: string, marked: string): Promise<string[]> {
  const { text, position } = cursor(marked);
  await server.open(folder, name, text, languageId);
  return (await server.complete(position)).map(({ label }) => label);
}

describe("another framework's configuration in the editor", () => {
  it("is diagnosed, fixed and found right", async () => {
    const text = script(
      "    data.train_batch_sise=8 \\\n    actor_rollout_ref.rollout.name=vllm \\\n    actor_rollout_ref.actor.use_dynamic_bsz=True",
    );
    const found = await server.open(folder, "run.sh", text, "shellscript");
    assert.deepEqual(
      found.diagnostics.map(({ code, range }) => [code, range.start]),
      [["foreign-unknown-key", { line: 2, character: 4 }]],
    );
    const [action] = await server.actions(found);
    const edits = Object.values(action?.edit?.changes ?? {}).flat();
    const mended = applied(text, edits);
    assert.match(mended, /data\.train_batch_size=8/);
    assert.deepEqual((await server.change(mended)).diagnostics, []);
  });

  it("is silent about every other script", async () => {
    const uri = pathToFileURL(join(folder, "other.sh")).href;
    await server.connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId: "shellscript", version: 1, text: "echo no configuration\n" },
    });
    // Answered in the order of arrival: what was to be said of it has been said before the next one's diagnostics.
    await server.open(folder, "known.sh", script("    trainer.nnodes=2"), "shellscript");
    assert.ok(server.published.every((params) => params.uri !== uri));
  });

  it("completes overrides level by level, and their values", async () => {
    const sections = await offered(
      "b.sh",
      "shellscript",
      script("    trainer.nnodes=2 \\\n    actor_rollout_ref.|"),
    );
    assert.ok(sections.includes("actor_rollout_ref.actor"));
    assert.ok(sections.includes("actor_rollout_ref.rollout.n"));
    const values = await offered(
      "c.sh",
      "shellscript",
      script("    trainer.nnodes=2 \\\n    algorithm.adv_estimator=|"),
    );
    assert.ok(values.includes("rloo"));
    assert.ok(values.includes("gdpo"));
  });

  it("completes YAML by its indentation", async () => {
    const head = "defaults: [ppo_trainer, _self_]\nactor_rollout_ref:\n  rollout:\n    n: 4\n    ";
    const keys = await offered("d.yaml", "yaml", `${head}|`);
    assert.ok(keys.includes("temperature"));
    assert.ok(keys.includes("val_kwargs"));
    assert.ok(!keys.includes("n"));
    const flags = await offered("e.yaml", "yaml", `${head}free_cache_engine: |`);
    assert.deepEqual(flags, ["true", "false"]);
    const trl = await offered("f.yaml", "yaml", "num_generations: 8\nbeta: 0.1\nloss_type: |\n");
    assert.ok(trl.includes("dr_grpo"));
  });

  it("completes flags and keywords", async () => {
    const flags =
      "python3 -m openrlhf.cli.train_ppo_ray --train.batch_size 8 \\\n  --algo.advantage.estimator ";
    assert.ok((await offered("g.sh", "shellscript", `${flags}|`)).includes("rloo"));
    assert.ok(
      (await offered("h.sh", "shellscript", `${flags}rloo --rollout.|`)).includes(
        "--rollout.n_samples_per_prompt",
      ),
    );
    const call = 'from trl import GRPOConfig\nargs = GRPOConfig(\n    output_dir="x",\n    ';
    const keys = await offered("i.py", "python", `${call}num_|\n)\n`);
    assert.ok(keys.includes("num_generations"));
    assert.ok(!keys.includes("output_dir"));
    assert.ok(!keys.includes("reward_funcs"));
    const dpo = "from trl import DPOConfig, GRPOConfig\nold = GRPOConfig(beta=0)\nargs = DPOConfig(\n    ";
    const preferred = await offered("p.py", "python", `${dpo}precompute_|\n)\n`);
    assert.ok(preferred.includes("precompute_ref_log_probs"));
    assert.ok(!preferred.includes("num_generations"));
    for (const [config, key] of [
      ["SFTConfig", "assistant_only_loss"],
      ["RLOOConfig", "normalize_advantages"],
      ["KTOConfig", "desirable_weight"],
      ["RewardConfig", "center_rewards_coefficient"],
    ] as const) {
      const first = `from trl import ${config}\nargs = ${config}(\n    output_dir="x",\n    |\n)\n`;
      assert.ok((await offered(`${config}.py`, "python", first)).includes(key), config);
    }
    assert.ok((await offered("j.py", "python", `${call}loss_type=|\n)\n`)).includes('"dapo"'));
  });

  it("explains a key: comment, default, release, and one step in numbers", async () => {
    const { text, position } = cursor(
      script(
        "    data.train_batch_size=256 actor_rollout_ref.rollout.n=8 \\\n    actor_rollout_ref.actor.ppo_mini_batch|_size=64",
      ),
    );
    await server.open(folder, "k.sh", text, "shellscript");
    const hover = await server.hover(position);
    assert.match(hover, /Default: `256`/);
    assert.match(hover, /verl 0\.\d+\.\d+/);
    assert.match(hover, /samples per step: \*\*2048\*\* \(256 × 8\)/);
    assert.match(hover, /optimiser steps: \*\*4\*\*/);
  });
});
