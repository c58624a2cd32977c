import { existsSync } from "node:fs";
import { isHubName } from "../../lib/datasets/name.ts";
import { dirname, resolve } from "node:path";
import { shownPath } from "../../lib/texts/shownPath.ts";
import { perceptronKeys } from "../../core/blocks/models.ts";
import { child, join, type MapNode, type SourceNode } from "../../config/text/node.ts";
import { unknownName, type DiagnosticReport } from "../../config/check/report.ts";
import type { ConfigModel } from "../../config/check/model.ts";
import { at as nodeAt, keyOf, mine, type Rule } from "../rule.ts";

/** Names that mean something wherever a model is named; `policy` is `model` and never gets here. */
const reserved = ["reference", "previous"];
const copyKeys = ["ema", "polyak"] as const;
const usual = "{ use: adamw, lr: 1.0e-5 }";

type Complain = (
  found: Pick<DiagnosticReport, "message" | "severity" | "fixes" | "fileFixes">,
  ...keys: readonly string[]
) => void;

/** Each model of the registry is one thing: opened from a base, or a copy of another. */
export const registeredModel: Rule = {
  id: "model-registry",
  title: "Inconsistent entry of `models`",
  why: "An entry of `models` is opened from a `base`, is a copy of another model (`ema`, `polyak`), or is a multilayer perceptron (`kind: mlp`): exactly one of these, with the keys that belong to it. A model that trains needs an optimizer of its own; a frozen model has no use for one.",
  check(model) {
    const models = nodeAt(model.root, "models");
    if (models?.kind !== "map") return;
    const seen = new Map<string, string>();
    for (const [name, { value }] of models.entries) {
      if (value.kind !== "map") continue;
      const complain = complainer(model, name, value);
      checkNamesake(name, seen, complain);
      checkOne(model, name, value, complain);
    }
  },
};

/** Puts a diagnostic on the key if it exists, else on the model's name. */
function complainer({ report, file, root }: ConfigModel, name: string, node: MapNode): Complain {
  return (found, ...keys) => {
    const at =
      mine(file, nodeAt(node, ...keys)?.origin) ?? mine(file, keyOf(root, "models", name)) ?? root.origin;
    report({ rule: registeredModel.id, key: keys.reduce(join, `models.${name}`), at, ...found });
  };
}

/** @param seen names so far, by what a folder that does not tell case apart makes of them */
function checkNamesake(name: string, seen: Map<string, string>, complain: Complain): void {
  const namesake = seen.get(name.toLowerCase());
  seen.set(name.toLowerCase(), name);
  if (namesake !== undefined)
    complain({
      severity: "warning",
      message: `\`${name}\` differs from \`${namesake}\` by capital letters alone, so on Windows and macOS one checkpoint replaces the other: give it another name.`,
    });
}

function checkOne(model: ConfigModel, name: string, node: MapNode, complain: Complain): void {
  if (reserved.includes(name))
    complain({
      message: `\`${name}\` is the name of a model that every run has: give this one another name.`,
    });
  const given = ["base", ...copyKeys].filter((key) => child(node, key) !== undefined);
  if (valueOf(child(node, "kind")) === "mlp") return checkPerceptron(model, name, node, complain);
  const extra = perceptronKeys.find((key) => child(node, key) !== undefined);
  if (extra !== undefined)
    return complain(
      { message: `\`${extra}\` belongs to a multilayer perceptron: write \`kind: mlp\`, or remove it.` },
      extra,
    );
  const [kind] = given;
  if (kind === undefined)
    return complain({
      message: `\`models.${name}\` needs \`base\` (a model to open), \`ema\` or \`polyak\` (a copy of another model), or \`kind: mlp\`.`,
    });
  if (given.length > 1)
    return complain(
      { message: `\`models.${name}\` is one of \`${given.join("` and `")}\`, not both: remove one.` },
      given[1] ?? kind,
    );
  if (kind === "base") checkOpened(model, name, node, complain);
  else checkCopy(model, name, node, kind, complain);
}

/** Features in, numbers out: nothing of a language model belongs to it. */
function checkPerceptron(model: ConfigModel, name: string, node: MapNode, complain: Complain): void {
  const own = ["kind", ...perceptronKeys, "trains", "optimizer"];
  for (const key of node.entries.keys())
    if (!own.includes(key))
      complain(
        {
          message: `A multilayer perceptron has no \`${key}\`. Its keys are ${own.map((one) => `\`${one}\``).join(", ")}.`,
        },
        key,
      );
  if (child(node, "inputs") === undefined)
    complain({ message: `\`models.${name}\` needs \`inputs\`, the number of features in a row.` }, "kind");
  checkTraining(model, name, node, complain);
}

/** Whether this rule reports what a model lacks to train, so that other rules need not report that it is frozen. */
export const lacksOptimizer = ({ root }: Pick<ConfigModel, "root">, name: string): boolean => {
  const node = nodeAt(root, "models", name);
  return valueOf(child(node, "trains")) === true && child(node, "optimizer") === undefined;
};

function checkTraining(model: ConfigModel, name: string, node: MapNode, complain: Complain): void {
  const trains = valueOf(child(node, "trains")) === true;
  const optimizer = child(node, "optimizer") !== undefined;
  if (lacksOptimizer(model, name))
    complain(
      {
        message: `\`models.${name}\` trains, so it needs an \`optimizer\`, e.g. \`optimizer: ${usual}\`.`,
        fileFixes: [
          model.edits.set(["models", name, "optimizer"], usual, `Give it \`optimizer: ${usual}\``, false),
        ],
      },
      "trains",
    );
  if (optimizer && !trains)
    complain(
      {
        severity: "warning",
        message: `\`models.${name}\` has an optimizer but is frozen: set \`trains: true\`, or remove \`optimizer\`.`,
      },
      "optimizer",
    );
}

function checkOpened(model: ConfigModel, name: string, node: MapNode, complain: Complain): void {
  const { file } = model;
  checkTraining(model, name, node, complain);
  const base = valueOf(child(node, "base"));
  const origin = child(node, "base")?.origin;
  if (typeof base !== "string" || origin === undefined || base === "tiny" || base.startsWith("${env:"))
    return;
  const path = resolve(origin.folder, base);
  // Another trainer downloads what has a name of the Hub.
  if (!existsSync(path) && !(isHubName(base) && model.config.engine.use !== "embedded"))
    complain(
      {
        message: `There is no model at \`${shownPath(dirname(file), path)}\`: name \`tiny\`, a folder, a .gguf file or a checkpoint that exists.`,
      },
      "base",
    );
}

function checkCopy(
  { config, report, file, root }: ConfigModel,
  name: string,
  node: MapNode,
  kind: string,
  complain: Complain,
): void {
  for (const key of node.entries.keys())
    if (key !== kind)
      complain(
        {
          message: `A copy of another model has no \`${key}\`: it has that model's size and only follows it.`,
        },
        key,
      );
  const of = valueOf(nodeAt(node, kind, "of"));
  const known = ["policy", ...config.models.flatMap((one) => (one.kind === "copy" ? [] : [one.name]))];
  if (typeof of !== "string" || known.includes(of)) return;
  const at = mine(file, nodeAt(node, kind, "of")?.origin) ?? root.origin;
  const { hint, fixes } = unknownName(of, known, at);
  report({
    rule: registeredModel.id,
    message: `\`${of}\` cannot be copied: there is no such model. ${hint}`,
    key: `models.${name}.${kind}.of`,
    at,
    fixes,
  });
}

const valueOf = (node: SourceNode | undefined): unknown => (node?.kind === "scalar" ? node.value : undefined);
