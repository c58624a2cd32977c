/**
 * Settings drawn at random, and whether the framework itself takes them. test/fixtures/frameworks/trlAccepts.json:
 * `trl.GRPOConfig`, in one process without a GPU (`use_cpu=True`). openrlhfAccepts.json: openrlhf/cli/train_ppo_ray.py up to
 * where it would start models, with Ray and the models' groups replaced by nothing.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { diagnosed } from "../../support/frameworkFixture.ts";

type Value = string | number | boolean | null | readonly (string | number)[];
interface Rows {
  readonly release: string;
  readonly rows: readonly {
    readonly accepted: boolean;
    readonly settings: Readonly<Record<string, Value>>;
  }[];
}

function asYaml(settings: Readonly<Record<string, Value>>, release: string): string {
  const own = {
    model_name_or_path: "a/b",
    dataset_name: "a/prompts",
    reward_funcs: ["accuracy_reward"],
    num_processes: 1,
    max_completion_length: 256,
  };
  const lines = Object.entries({ ...own, ...settings }).map(
    ([key, value]) => `${key}: ${JSON.stringify(value)}`,
  );
  return [`# TRL ${release}`, ...lines, ""].join("\n");
}

function asScript(settings: Readonly<Record<string, Value>>, release: string): string {
  const flags = Object.entries(settings).map(
    ([key, value]) => `--${key} ${value === true ? "" : [value].flat().join(" ")}`,
  );
  return `# OpenRLHF ${release}\npython3 -m openrlhf.cli.train_ppo_ray ${flags.join(" ")}\n`;
}

/** Of another trainer: its class is what was asked. */
const asCall =
  (config: string) =>
  (settings: Readonly<Record<string, Value>>, release: string): string => {
    const shown = (value: Value): string =>
      value === null ? "None" : value === true ? "True" : value === false ? "False" : JSON.stringify(value);
    const given = Object.entries(settings).map(([key, value]) => `    ${key}=${shown(value)},\n`);
    return `# TRL ${release}\nfrom trl import ${config}\nargs = ${config}(\n    output_dir="out",\n${given.join("")})\n`;
  };

const sources: readonly (readonly [
  name: string,
  file: string,
  write: (settings: Readonly<Record<string, Value>>, release: string) => string,
])[] = [
  ["trl", "/nowhere/grpo.yaml", asYaml],
  ["openrlhf", "/nowhere/train.sh", asScript],
  [
    "trlRloo",
    "/nowhere/rloo.yaml",
    (settings, release) => `# trl rloo --config rloo.yaml\n${asYaml(settings, release)}`,
  ],
  ...["DPO", "SFT", "KTO", "Reward"].map(
    (title) =>
      [
        `trl${title[0]}${title.slice(1).toLowerCase()}`,
        "/nowhere/train.py",
        asCall(`${title}Config`),
      ] as const,
  ),
];

for (const [name, file, write] of sources) {
  const { release, rows }: Rows = JSON.parse(
    readFileSync(`test/fixtures/frameworks/${name}Accepts.json`, "utf8"),
  );

  describe(`what ${name} ${release} takes`, () => {
    for (const accepted of [true, false]) {
      it(accepted ? "is no error" : "else is an error", () => {
        const some = rows.filter((row) => row.accepted === accepted);
        assert.ok(some.length >= 100);
        for (const { settings } of some) {
          const found = diagnosed(file, write(settings, release)) ?? [];
          // Of what is accepted, some is never read: that is an error of its own.
          const refused = found.filter(({ rule }) => !rule.endsWith("-unread"));
          const errors = refused.filter(({ severity }) => severity === "error").map(({ message }) => message);
          assert.equal(errors.length === 0, accepted, `${JSON.stringify(settings)}: ${errors.join(" ")}`);
        }
      });
    }
  });
}
