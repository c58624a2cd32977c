/** A key that a configuration leaves out has the default of the release that `validate` checks the file against. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { parse } from "yaml";
import { convert, type Converted } from "../../../../server/frameworks/trainers/convert.ts";
import { notebook } from "../../../support/notebooks.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-release-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const of = (name: string, text: string): Converted => convert(join(folder, name), text);
const head = ({ config }: Converted): string => config.split("\n")[0] ?? "";
const reasons = ({ defaulted }: Converted): Record<string, string> =>
  Object.fromEntries(defaulted.map(({ key, value, reason }) => [key, `${String(value)}: ${reason}`]));

const trainer = `from trl import GRPOConfig, GRPOTrainer
GRPOTrainer(model="m", reward_funcs=[len], args=GRPOConfig(output_dir="out"), train_dataset="a.jsonl").train()`;

describe("the release of a conversion", () => {
  for (const [how, cell] of [
    ["`!pip install`", "!pip install trl==1.2.0"],
    ["`%pip install`", '%pip install "trl==1.2.0"'],
    ["a comment", "# trl==1.2.0"],
  ] as const)
    it(`is the one that a notebook pins by ${how}`, () => {
      const made = of("nb.ipynb", notebook([cell, trainer]));
      assert.equal(parse(made.config).rollout.max_tokens, 256);
      assert.equal(head(made), "# Converted from a configuration of TRL 1.2.0.");
      assert.equal(reasons(made)["max_completion_length"], "256: the default of TRL 1.2.0");
    });

  it("is the requirements' where the file names none, and else the newest, which it says", () => {
    const script = "trl grpo --model_name_or_path m --dataset_name a.jsonl\n";
    assert.match(head(of("run.sh", script)), /TRL [\d.]+, the newest known\.$/);
    writeFileSync(join(folder, "requirements.txt"), "trl==0.21.0\n");
    const made = of("run.sh", script);
    rmSync(join(folder, "requirements.txt"));
    assert.equal(head(made), "# Converted from a configuration of TRL 0.21.0.");
    assert.equal(parse(made.config).rollout.max_tokens, 256);
  });

  it("leaves out what the release does not do, and takes what it does without a key", () => {
    const script = (release: string): string =>
      `# trl==${release}\ntrl grpo --model_name_or_path m --dataset_name a.jsonl --beta 0.1 --use_vllm true\n`;
    const made = (release: string) => parse(of("run.sh", script(release)).config);
    assert.equal(made("0.22.2").objective.correction, undefined);
    const truncated = { use: "truncate", level: "token", low: null, high: 2 };
    assert.deepEqual(made("0.24.0").objective.correction, [truncated]);
    assert.equal(made("0.24.0").kl[0].importance_weighted, undefined);
    assert.equal(made("1.16.0").kl[0].importance_weighted, true);
  });

  it("reads defaults by the names that flags had then", () => {
    const made = of(
      "run.sh",
      "# openrlhf==0.9.4\npython3 -m openrlhf.cli.train_ppo_ray --prompt_data a.jsonl\n",
    );
    assert.equal(parse(made.config).rollout.max_tokens, 1024);
    assert.equal(reasons(made)["data.prompt_max_len"], "1024: the default of OpenRLHF 0.9.4");
  });

  it("of a trainer with one known release names the one that the file has as well", () => {
    const skyrl = (pin: string): Converted =>
      of(
        "run.sh",
        `${pin}python -m skyrl.train.entrypoints.main_base trainer.policy.model.path=m generator.n_samples_per_prompt=4\n`,
      );
    assert.equal(head(skyrl("")), "# Converted from a configuration of SkyRL 0.3.0.");
    assert.equal(
      head(skyrl("# skyrl==0.2.0\n")),
      "# Converted from a configuration of SkyRL 0.2.0, by the defaults of 0.3.0.",
    );
  });
});
