/** Arguments of TRL's programs and trainers: data classes, and Transformers' TrainingArguments below them. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { classesOf, type PythonField, type PythonClass } from "../../text/python/classes.ts";
import { constructorOf } from "../../text/python/parameters.ts";
import type { KeyFacts, KeyFact, KeyOwner, Release } from "../tables/table.ts";
import { trainers, type TrlTrainer } from "../programs/trl.ts";
import { choicesOfAnnotation, shortened, typeOfAnnotation } from "./types.ts";

const shared = [
  "trl/trainer/utils.py",
  "trl/trainer/base_config.py",
  "trl/trainer/model_config.py",
  "trl/scripts/utils.py",
];

/** A trainer that is entering or leaving the library is among the experiments: the later definition wins. */
const placesOf = (name: string, kind: "config" | "trainer"): string[] => [
  `trl/trainer/${name}_${kind}.py`,
  `trl/experimental/${name}/${name}_${kind}.py`,
];

/** @param root the folder that holds the package `trl`; what it inherits of Transformers is a table of its own */
export function trlFacts(root: string): Release | undefined {
  const release = Object.assign({}, ...trainers.map((trainer) => factsOfTrainer(root, trainer)));
  return "grpo" in release ? release : undefined;
}

/** Two trees: the program's arguments by its name, the class's by its own. */
function factsOfTrainer(root: string, { name, config, trainer }: TrlTrainer): Release {
  const classes = read(root, [...shared, ...placesOf(name, "config"), `trl/scripts/${name}.py`]);
  if (!classes.has(config)) return {};
  const script = ["ModelConfig", "ScriptArguments", config.replace("Config", "ScriptArguments")];
  const given = placesOf(name, "trainer")
    .map((file) => join(root, file))
    .filter((file) => existsSync(file))
    .map((file) => constructorOf(readFileSync(file, "utf8"), trainer))
    .findLast((names) => names?.includes("args") === true);
  return {
    [name]: {
      ...Object.assign(
        {},
        ...[...script, "DatasetMixtureConfig"].map((one) => factsOf(one, classes, "script")),
      ),
      ...factsOf(config, classes, "config"),
    },
    ...(given === undefined
      ? {}
      : { [trainer]: Object.fromEntries(given.map((argument) => [argument, { type: "any" }])) }),
  };
}

/** @param root the folder that holds the package `transformers` */
export function transformersFacts(root: string): Release | undefined {
  const classes = read(root, [
    "transformers/training_args.py",
    "transformers/training_args_seq2seq.py",
    "transformers/trainer_utils.py",
    "transformers/utils/generic.py",
  ]);
  if (!classes.has("TrainingArguments")) return undefined;
  const [enums, trackers] = [enumsIn(root), trackersIn(root)];
  const facts = (name: string): KeyFacts => {
    const found = factsOf(name, classes, "config", enums);
    const report = found["report_to"];
    return report === undefined || trackers.length === 0
      ? found
      : { ...found, report_to: { ...report, choices: ["none", "all", ...trackers] } };
  };
  return { "": facts("TrainingArguments"), seq2seq: facts("Seq2SeqTrainingArguments") };
}

/** `INTEGRATION_TO_CALLBACK`: `get_reporting_integration_callbacks` refuses other keys. */
function trackersIn(root: string): string[] {
  const path = join(root, "transformers/integrations/integration_utils.py");
  if (!existsSync(path)) return [];
  const body = /^INTEGRATION_TO_CALLBACK = \{([^}]*)\}/m.exec(readFileSync(path, "utf8"))?.[1] ?? "";
  return [...body.matchAll(/^\s*"(\w+)":/gm)].map(([, name = ""]) => name);
}

function read(root: string, files: readonly string[]): Map<string, PythonClass> {
  const sources = files.map((file) => join(root, file)).filter((file) => existsSync(file));
  return new Map(
    sources.flatMap((file) => classesOf(readFileSync(file, "utf8")).map((one) => [one.name, one] as const)),
  );
}

/** Enumerations of Transformers by name: `class SchedulerType(ExplicitEnum)` with `NAME = "value"` lines. */
function enumsIn(root: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const file of ["transformers/trainer_utils.py", "transformers/training_args.py"]) {
    const path = join(root, file);
    if (!existsSync(path)) continue;
    const text = readFileSync(path, "utf8");
    for (const [, name = "", body = ""] of text.matchAll(
      /^class (\w+)\((?:ExplicitEnum|str, Enum)\):\n((?:[ \t]+.*\n|\n)*)/gm,
    ))
      found.set(
        name,
        [...body.matchAll(/^\s+[A-Z_\d]+ = "([^"]*)"/gm)].map(([, value = ""]) => value),
      );
  }
  return found;
}

/** With what the classes above it have. */
function factsOf(
  name: string,
  classes: ReadonlyMap<string, PythonClass>,
  owner: KeyOwner,
  enums: ReadonlyMap<string, readonly string[]> = new Map(),
): KeyFacts {
  const own = classes.get(name);
  if (own === undefined) return {};
  const inherited = own.bases.map((base) => factsOf(base, classes, owner, enums));
  const fields = own.fields.map((field) => [field.name, factOf(field, owner, enums)] as const);
  return { ...Object.assign({}, ...inherited), ...Object.fromEntries(fields) };
}

function factOf(field: PythonField, owner: KeyOwner, enums: ReadonlyMap<string, readonly string[]>): KeyFact {
  // A list of an enumeration may also be written as one text with blanks.
  const words = /\blist\b/i.test(field.annotation) ? [] : field.annotation.split(/\W+/);
  const named = words.flatMap((word) => enums.get(word) ?? []);
  const choices =
    field.choices ?? choicesOfAnnotation(field.annotation) ?? (named.length === 0 ? undefined : named);
  const help = shortened(field.help);
  const items = /^list \[ (\w+) \]/.exec(field.annotation)?.[1];
  return {
    type: typeOfAnnotation(field.annotation),
    ...(field.default === undefined ? {} : { default: field.default }),
    ...(choices === undefined ? {} : { choices }),
    ...(items === "int" || items === "float" ? { of: items } : {}),
    ...(help === undefined ? {} : { help }),
    owner,
  };
}
