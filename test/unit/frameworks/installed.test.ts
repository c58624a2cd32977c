/** Rules that look at what is installed next to a file. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { diagnosed } from "../../support/frameworkFixture.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-installed-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function project(name: string, transformers: string): string {
  const packages = join(folder, name, ".venv", "lib", "python3.12", "site-packages");
  for (const one of ["trl-1.16.0", `transformers-${transformers}`])
    mkdirSync(join(packages, `${one}.dist-info`), { recursive: true });
  return join(folder, name, "grpo.yaml");
}

const text = `model_name_or_path: a/b
dataset_name: trl-lib/DeepMath-103K
reward_funcs: [accuracy_reward]
num_generations: 8
use_transformers_continuous_batching: true
`;
const found = (file: string): string[] =>
  (diagnosed(file, text) ?? [])
    .filter(({ rule }) => rule === "trl-transformers")
    .map(({ message }) => message);

describe("trl-transformers", () => {
  it("reports a Transformers that is too old", () => {
    assert.deepEqual(found(project("old", "5.3.0")), [
      "`use_transformers_continuous_batching` needs Transformers 5.8.0 or newer, but 5.3.0 is installed: run `pip install --upgrade transformers`.",
    ]);
  });
  it("is silent with one that is new enough, and where none is installed", () => {
    assert.deepEqual(found(project("new", "5.8.0")), []);
    assert.deepEqual(found("/nowhere/grpo.yaml"), []);
  });
});

describe("an installed release that came after the tables", () => {
  /** Of the classes only what the keys below need. */
  const sources: Readonly<Record<string, string>> = {
    "trl/trainer/grpo_config.py": `@dataclass
class GRPOConfig(_BaseConfig):
    num_generations: int = field(default=8, metadata={"help": "Completions of a prompt."})
    brand_new_switch: bool = field(default=False, metadata={"help": "New."})
    brand_new_kind: str = field(default="soft", metadata={"choices": ["soft", "hard"]})
`,
    "trl/trainer/model_config.py": `@dataclass
class ModelConfig:
    model_name_or_path: str | None = field(default=None)
`,
    "transformers/training_args.py": `@dataclass
class TrainingArguments:
    per_device_train_batch_size: int = field(default=8)
    brand_new_argument: int = field(default=1)
`,
  };
  const later = (): string => {
    const file = project("later", "99.0.0");
    const packages = join(folder, "later", ".venv", "lib", "python3.12", "site-packages");
    rmSync(join(packages, "trl-1.16.0.dist-info"), { recursive: true });
    mkdirSync(join(packages, "trl-99.0.0.dist-info"));
    for (const [name, source] of Object.entries(sources)) {
      mkdirSync(join(packages, name, ".."), { recursive: true });
      writeFileSync(join(packages, name), source);
    }
    return file;
  };
  const head = "model_name_or_path: a/b\nnum_generations: 8\n";
  const heard = (file: string, more: string): string[] =>
    (diagnosed(file, `# trl grpo --config grpo.yaml\n${head}${more}`) ?? [])
      .filter(({ rule }) => rule === "foreign-unknown-key" || rule === "foreign-value")
      .map(({ severity, key }) => `${severity} ${key}`);

  it("is read from its own data classes", () => {
    const file = later();
    assert.deepEqual(heard(file, "brand_new_switch: true\nbrand_new_argument: 2\n"), []);
    assert.deepEqual(heard(file, "brand_new_kind: firm\n"), ["error brand_new_kind"]);
    assert.ok(heard(file, "never_heard_of: 1\n").includes("error never_heard_of"));
  });
});
