/** What TRL's own parsers and classes answered to bench/frameworks/askTrl.py, against what is found here. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { z } from "zod";
import { diagnosed } from "../../support/frameworkFixture.ts";

const rowSchema = z.object({
  trainer: z.string(),
  settings: z.record(z.string(), z.unknown()).optional(),
  flags: z.string().optional(),
  error: z.string().nullable(),
});
type Row = z.infer<typeof rowSchema>;
const { release, base, rows } = z
  .object({
    release: z.string(),
    base: z.record(z.string(), z.record(z.string(), z.unknown())),
    rows: z.array(rowSchema),
  })
  .parse(JSON.parse(readFileSync("test/fixtures/frameworks/trlAsked.json", "utf8")));

/** One process, as there was when TRL was asked. */
function written({ trainer, settings, flags }: Row): readonly [file: string, text: string] {
  const common = { ...base[trainer], num_processes: 1 };
  if (settings !== undefined) {
    const lines = Object.entries({ ...common, ...settings }).map(([k, v]) => `${k}: ${JSON.stringify(v)}`);
    const head = [`# TRL ${release}`, `# trl ${trainer} --config ${trainer}.yaml`];
    return [`/nowhere/${trainer}.yaml`, [...head, ...lines, ""].join("\n")];
  }
  const given = Object.entries(common).map(([k, v]) => `--${k} ${[v].flat().join(" ")}`);
  return ["/nowhere/train.sh", `# TRL ${release}\ntrl ${trainer} ${given.join(" ")} ${flags ?? ""}\n`];
}

/** What the classes take, and the trainers that are made of them refuse or fail on: rule, key and value. */
const later: readonly RegExp[] = [
  // A list or a fraction where a number is calculated with: nothing compares types before.
  /^foreign-type \w+ (\[.*\]|\d+\.\d+)$/,
  /^foreign-type (per_device_train_batch_size|gradient_accumulation_steps) null$/,
  // Names that a trainer compares.
  /^foreign-value (loss_type|truncation_mode|dtype|report_to) "\w+"$/,
  /^(foreign-value|trl-empty-batch) (gradient_accumulation_steps|per_device_train_batch_size) 0$/,
  /^foreign-value adam_beta1 /,
  // Refused by the trainers' own `__init__`.
  /^trl-(preference-loss|reference-model) (sync_ref_model|f_divergence_type|per_device_train_batch_size) /,
  /^trl-padding-free padding_free true$/,
];

function errorsOf(row: Row): readonly string[] {
  const found = diagnosed(...written(row));
  assert.ok(found !== undefined, `read as TRL's: ${JSON.stringify(row)}`);
  return found
    .filter(({ severity }) => severity === "error")
    .map(({ rule, key }) => `${rule} ${key} ${JSON.stringify(row.settings?.[key]) ?? ""}`);
}

/** Arguments that a release of Transformers dropped: which one is installed, no file says, so these are warnings. */
const ofTransformers =
  /Unknown arguments.*--(group_by_length|overwrite_output_dir|warmup_ratio|evaluation_strategy)/;
const shown = ({ trainer, settings, flags, error }: Row): string =>
  `${trainer} ${JSON.stringify(settings ?? flags)} ${error ?? ""}`;

describe(`what TRL ${release} answered`, () => {
  const judged = rows.map((row) => ({ row, errors: errorsOf(row) }));

  it("leaves what it accepts without an error, unless the trainer refuses it later", () => {
    const wrong = judged.filter(
      ({ row, errors }) =>
        row.error === null && !errors.every((error) => later.some((one) => one.test(error))),
    );
    assert.deepEqual(
      wrong.map(({ row, errors }) => `${shown(row)}: ${errors.join("; ")}`),
      [],
    );
  });

  it("finds an error in nineteen of twenty that it refuses", () => {
    const refused = judged.filter(({ row: { error } }) => error !== null && !ofTransformers.test(error));
    const missed = refused.filter(({ errors }) => errors.length === 0).map(({ row }) => shown(row));
    assert.ok(refused.length > 500, "enough of them were asked");
    assert.ok(
      missed.length < refused.length / 20,
      `${missed.length} of ${refused.length}:\n${missed.join("\n")}`,
    );
  });

  const python = process.env["GRADUS_PEER_PYTHON"];
  const skip = python === undefined ? "GRADUS_PEER_PYTHON names no Python with TRL" : false;
  it("is what TRL answers still", { skip }, () => {
    const said = execFileSync(python!, ["bench/frameworks/askTrl.py", "--check"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const last = said.trim().split("\n").at(-1) ?? "";
    const answer = z.object({ release: z.string(), differing: z.array(z.string()) }).parse(JSON.parse(last));
    assert.deepEqual(answer, { release, differing: [] });
  });
});
