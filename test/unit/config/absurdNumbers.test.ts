/** A number that no one means, typed or pasted: reported within a moment, wherever it is, and nothing is made of its size. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { stringify } from "yaml";
import { z } from "zod";
import { allDiagnostics } from "../../../server/rules/load.ts";
import { configSchema } from "../../../server/config/grammar/jsonSchema.ts";
import { modelFacts } from "../../../server/analysis/modelFacts.ts";
import { stepsOf } from "../../support/steps.ts";
import { some } from "../../support/thorough.ts";

type Schema = z.infer<typeof schema>;
const schema = z.looseObject({
  $ref: z.string().optional(),
  type: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
});
const root: unknown = JSON.parse(JSON.stringify(configSchema()));

const at = (value: unknown, key: string): unknown => z.looseObject({}).parse(value)[key];
function resolved(value: unknown): Schema {
  const one = schema.parse(typeof value === "boolean" ? {} : value);
  return one.$ref === undefined ? one : resolved(one.$ref.split("/").slice(1).reduce(at, root));
}

/** Keys that take a number, by path; those of a method stand in several branches and are met once. */
function numeric(value: unknown, path: readonly string[], found: Set<string>): Set<string> {
  if (path.length > 3) return found;
  const { type, anyOf = [], properties = {} } = resolved(value);
  if (type === "number" || type === "integer") found.add(path.join("."));
  for (const branch of anyOf) numeric(branch, path, found);
  for (const [key, inner] of Object.entries(properties)) numeric(inner, [...path, key], found);
  return found;
}

it("at every key that takes a number", async () => {
  const paths = [...numeric(root, [], new Set())];
  assert.ok(paths.includes("model.heads") && paths.includes("rollout.group") && paths.length > 60);
  for (const path of some(paths, 24)) {
    const [top = "", ...rest] = path.split(".");
    const inner = rest.reduceRight<unknown>((value, key) => ({ [key]: value }), 1e9);
    const base = { extends: "grpo", model: { base: "tiny" }, tasks: [{ env: "countdown" }] };
    const given =
      top === "model" ? { model: { base: "tiny", ...z.looseObject({}).parse(inner) } } : { [top]: inner };
    const text = stringify({ ...base, ...given });
    const steps = stepsOf(() =>
      allDiagnostics(join("nowhere", "absurd.gradus.yaml"), { text, models: modelFacts }),
    );
    assert.ok(steps < 3e6, `${path}: ${steps} steps`);
    await setImmediate(); // or what is remembered weakly would all be held until the end
  }
});
