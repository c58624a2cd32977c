/**
 * verl's tree of settings: values from the composed files that it ships (`_generated_*.yaml`), comments from the files
 * they were composed of, and the fields of the classes that sections become.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, parseDocument } from "yaml";
import type { Json } from "../../../../shared/lib/json.ts";
import { classesOf, type PythonClass } from "../../text/python/classes.ts";
import type { KeyFacts, KeyFact, Release } from "../tables/table.ts";
import { flat, isObject, pythonic } from "../../text/values.ts";
import { Composition, floatsIn, type HydraGroup } from "./hydra.ts";
import { checksIn } from "./asserts.ts";
import { choicesOfAnnotation, shortened, typeOfAnnotation, typeOfValue } from "./types.ts";

/** @param root the folder that holds the package `verl` */
export function verlFacts(root: string): Release | undefined {
  const folder = join(root, "verl/trainer/config");
  if (!existsSync(folder)) return undefined;
  const trees = readdirSync(folder).flatMap((name) => /^_generated_(ppo_\w+)\.yaml$/.exec(name)?.[1] ?? []);
  const classes = classesIn(root);
  return {
    ...Object.fromEntries(trees.map((tree) => [tree, generatedFacts(folder, tree, classes)])),
    ...otherFacts(root, folder, classes),
  };
}

/** Of verl's other programs: their trees are composed here, as Hydra would. */
function otherFacts(root: string, folder: string, classes: ReadonlyMap<string, PythonClass>): Release {
  const facts = (file: string, choices: Readonly<Record<string, string>> = {}): KeyFacts => {
    const { values, floats, comments, groups } = new Composition(folder, choices).primary(file);
    return { ...treeFacts([...values], new Set(floats), comments, classes), ...groupFacts(groups) };
  };
  const own = ["sft_trainer", "sft_trainer_engine", "evaluation", "generation"]
    .map((tree) => [tree, join(folder, `${tree}.yaml`)] as const)
    .filter(([, file]) => existsSync(file));
  const engines = own.some(([tree]) => tree === "sft_trainer_engine") ? enginesIn(folder) : [];
  return Object.fromEntries([
    ...[...own, ...experiments(root)].map(([tree, file]) => [tree, facts(file)] as const),
    ...engines.map((engine) => {
      const optim = existsSync(join(folder, "optim", `${engine}.yaml`)) ? { optim: engine } : {};
      return [
        `sft_trainer_${engine}`,
        facts(join(folder, "sft_trainer_engine.yaml"), { engine, ...optim }),
      ] as const;
    }),
  ]);
}

/** Engines other than the default that a launch may choose. */
const enginesIn = (folder: string): string[] =>
  readdirSync(join(folder, "engine"))
    .map((name) => name.replace(/\.yaml$/, ""))
    .filter((name) => name !== "fsdp");

function experiments(root: string): (readonly [string, string])[] {
  return ["fully_async_policy/config/fully_async", "one_step_off_policy/config/one_step_off"]
    .flatMap((stem) => ["ppo_trainer", "ppo_megatron_trainer"].map((end) => `${stem}_${end}`))
    .map((stem) => [stem.split("/").at(-1)!, join(root, "verl/experimental", `${stem}.yaml`)] as const)
    .filter(([, file]) => existsSync(file));
}

/** verl keeps these trees composed; their comments are in the parts. */
function generatedFacts(folder: string, tree: string, classes: ReadonlyMap<string, PythonClass>): KeyFacts {
  const document = parseDocument(readFileSync(join(folder, `_generated_${tree}.yaml`), "utf8"));
  const { contents } = document;
  const composed = pythonic(document.toJS({ maxAliasCount: 100 }));
  if (!isObject(composed) || !isMap(contents)) return {};
  const engine = /^ppo_(\w+)_trainer$/.exec(tree)?.[1] ?? "dp";
  const walk = new Composition(folder, { model_engine: engine });
  const primary = join(folder, `${tree}.yaml`);
  const { comments, groups } = walk.primary(existsSync(primary) ? primary : join(folder, "ppo_trainer.yaml"));
  const facts = treeFacts(flat(composed), new Set(floatsIn(contents, "")), comments, classes);
  return { ...facts, ...groupFacts(groups) };
}

/** Which file a group takes, as an override names it: `actor@actor_rollout_ref.actor=megatron_actor`. */
const groupFacts = (groups: ReadonlyMap<string, HydraGroup>): KeyFacts =>
  Object.fromEntries(
    [...groups].map(([name, { chosen, choices }]) => [
      name,
      { type: "str", default: chosen, choices, group: true },
    ]),
  );

function treeFacts(
  leaves: readonly (readonly [string, Json])[],
  floats: ReadonlySet<string>,
  comments: ReadonlyMap<string, string>,
  classes: ReadonlyMap<string, PythonClass>,
): KeyFacts {
  const targets = new Map(
    leaves.flatMap(([key, value]) => (isTarget(key) ? [[sectionOf(key), String(value)]] : [])),
  );
  const facts: Record<string, KeyFact> = {};
  for (const [section, target] of targets) addFields(facts, section, target, classes);
  for (const [section, target] of targets)
    if (classes.has(className(target))) facts[`${section}._target_`] = { type: "str", default: target };
  for (const [key, value] of leaves)
    if (!isTarget(key)) facts[key] = leafFact(key, value, comments.get(key), facts[key], floats.has(key));
  // A section with a known class has the fields of that class alone.
  const closed = (key: string): boolean => classes.has(className(targets.get(key) ?? ""));
  return Object.fromEntries(Object.entries(facts).filter(([key]) => !closed(key)));
}

const className = (target: string): string => target.split(".").at(-1) ?? "";
const isTarget = (key: string): boolean => /(^|\.)_target_$/.test(key);
const sectionOf = (key: string): string => key.replace(/\.?_target_$/, "");

/** Keys whose values are counts: a default of 0 alone does not show that a number is whole. */
const counts = /(size|length|_len|steps?|epochs|freq|num_\w+|n|nodes|per_node|rank|horizon)$/;

/** The class determines the type better than a value does. */
function leafFact(
  key: string,
  value: Json,
  comment: string | undefined,
  field: KeyFact | undefined,
  isFloat: boolean,
): KeyFact {
  const help = shortened(comment) ?? field?.help;
  const known = isFloat || (typeof value === "number" && !counts.test(key)) ? "float" : typeOfValue(value);
  const open = isObject(value);
  return {
    type: field?.type ?? known,
    default: value,
    ...(field?.choices === undefined ? {} : { choices: field.choices }),
    ...(help === undefined ? {} : { help }),
    ...(open ? { open: true } : {}),
  };
}

function addFields(
  facts: Record<string, KeyFact>,
  section: string,
  target: string,
  classes: ReadonlyMap<string, PythonClass>,
): void {
  for (const field of fieldsOf(className(target), classes)) {
    const help = shortened(field.help);
    const choices = asserted(className(target), field.name, classes) ?? choicesOfAnnotation(field.annotation);
    const value = field.default;
    facts[section === "" ? field.name : `${section}.${field.name}`] = {
      type: typeOfAnnotation(field.annotation),
      ...(value === undefined ? {} : { default: value }),
      ...(choices === undefined ? {} : { choices }),
      ...(help === undefined ? {} : { help }),
      plus: true,
      ...(isObject(value) || /dict|any|config/i.test(field.annotation) ? { open: true } : {}),
    };
  }
}

/** What `__post_init__` of the class, or of the one that it takes the field from, allows. */
function asserted(
  name: string,
  field: string,
  classes: ReadonlyMap<string, PythonClass>,
): readonly Json[] | undefined {
  const own = classes.get(name);
  if (own === undefined) return undefined;
  const found = own.asserted?.get(field);
  if (found !== undefined) return found;
  const above = own.asserted === undefined || own.callsSuper === true ? own.bases : [];
  return above.map((base) => asserted(base, field, classes)).find((choices) => choices !== undefined);
}

function fieldsOf(name: string, classes: ReadonlyMap<string, PythonClass>): PythonClass["fields"] {
  const own = classes.get(name);
  if (own === undefined) return [];
  return [...own.bases.flatMap((base) => fieldsOf(base, classes)), ...own.fields].filter(
    ({ name: field }) => !field.startsWith("_"),
  );
}

function classesIn(root: string): Map<string, PythonClass> {
  const folders = [
    "verl/workers/config",
    "verl/trainer/config",
    "verl/utils/profiler",
    "verl/base_config.py",
  ];
  const files = folders
    .map((folder) => join(root, folder))
    .filter((path) => existsSync(path))
    .flatMap((path) => (path.endsWith(".py") ? [path] : readdirSync(path).map((name) => join(path, name))))
    .filter((path) => path.endsWith(".py"));
  return new Map(
    files.flatMap((file) => {
      const source = readFileSync(file, "utf8");
      const checks = checksIn(source);
      return classesOf(source).map((one) => [one.name, { ...one, ...checks.get(one.name) }] as const);
    }),
  );
}
